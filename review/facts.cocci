// SPDX-License-Identifier: Apache-2.0
// Reads from a C file what the checks need, one line of JSON for each fact. No check is here: a semantic patch for each
// check would parse and match each file once for each of them.

@initialize:python@
@@
import json

def fact(kind, where, *words):
    place = where[0]
    print(json.dumps([kind, int(place.line), int(place.column), place.current_element, *map(str, words)]))

@call@
expression E; expression list es; position p;
@@
 E@p(es)

@script:python@
E << call.E; es << call.es; p << call.p;
@@
fact("call", p, E, es)

@set@
expression E, F; assignment operator op; position p;
@@
 E@p op F

@script:python@
E << set.E; F << set.F; op << set.op; p << set.p;
@@
fact("set", p, E, op, F)

@increment@
expression E; position p;
@@
 E@p++

@script:python@
E << increment.E; p << increment.p;
@@
fact("set", p, E, "+=", "1")

@before@
expression E; position p;
@@
 ++E@p

@script:python@
E << before.E; p << before.p;
@@
fact("set", p, E, "+=", "1")

@decrement@
expression E; position p;
@@
 E@p--

@script:python@
E << decrement.E; p << decrement.p;
@@
fact("set", p, E, "-=", "1")

@literal@
identifier T, member; expression E; position p;
@@
 (struct T) { ..., .member@p = E, ... }

@script:python@
T << literal.T; member << literal.member; E << literal.E; p << literal.p;
@@
fact("member", p, T, "", member, E)

@whole@
identifier T, V, member; expression E; position p;
@@
 struct T V = { ..., .member@p = E, ... };

@script:python@
T << whole.T; member << whole.member; E << whole.E; p << whole.p;
@@
fact("member", p, T, "", member, E)

@nested@
identifier T, V, outer, member; expression E; position p;
@@
 struct T V = { ..., .outer = { ..., .member@p = E, ... }, ... };

@script:python@
T << nested.T; outer << nested.outer; member << nested.member; E << nested.E; p << nested.p;
@@
fact("member", p, T, outer, member, E)

@nested_literal@
identifier T, outer, member; expression E; position p;
@@
 (struct T) { ..., .outer = { ..., .member@p = E, ... }, ... }

@script:python@
T << nested_literal.T; outer << nested_literal.outer; member << nested_literal.member; E << nested_literal.E;
p << nested_literal.p;
@@
fact("member", p, T, outer, member, E)

@branch exists@
expression E; statement S; position p, q;
@@
 if@p (E) S@q

@script:python@
E << branch.E; p << branch.p; q << branch.q;
@@
fact("if", p, E, q[0].line, q[0].line_end)

@other exists@
expression E; statement S, T; position p, q, r;
@@
 if@p (E) S@q else T@r

@script:python@
E << other.E; p << other.p; q << other.q; r << other.r;
@@
fact("if", p, E, q[0].line, q[0].line_end)
fact("else", r, E, r[0].line, r[0].line_end)

// A single statement has no position below a loop, so its end is unknown.

@each exists@
iterator I; expression list es; position p, q;
@@
 I@p(es) { ... when any
 }@q

@script:python@
I << each.I; es << each.es; p << each.p; q << each.q;
@@
fact("loop", p, I, es, q[0].line_end)

@whilst exists@
expression E; position p, q;
@@
 while@p (E) { ... when any
 }@q

@script:python@
E << whilst.E; p << whilst.p; q << whilst.q;
@@
fact("loop", p, "while", E, q[0].line_end)

@each_short exists@
iterator I; expression list es; statement S; position p;
@@
 I@p(es) S

@script:python@
I << each_short.I; es << each_short.es; p << each_short.p;
@@
fact("loop", p, I, es, int(p[0].line) + 2)

@whilst_short exists@
expression E; statement S; position p;
@@
 while@p (E) S

@script:python@
E << whilst_short.E; p << whilst_short.p;
@@
fact("loop", p, "while", E, int(p[0].line) + 2)

@counted_short exists@
expression E1, E2, E3; statement S; position p;
@@
 for@p (E1; E2; E3) S

@script:python@
E << counted_short.E2; p << counted_short.p;
@@
fact("loop", p, "for", E, int(p[0].line) + 2)

// SmPL has no pattern for a switch with any cases. The field that it reads shows that there is one.

@reading@
expression E; identifier member; position p;
@@
 E->attr.member@p

@script:python@
E << reading.E; member << reading.member; p << reading.p;
@@
fact("attr", p, member, E)

@leave@
expression E; position p;
@@
 return@p E;

@script:python@
E << leave.E; p << leave.p;
@@
fact("return", p, E)

@jump exists@
identifier L; position p;
@@
 goto@p L;

@script:python@
L << jump.L; p << jump.p;
@@
fact("goto", p, L)
