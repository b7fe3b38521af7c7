# SPDX-License-Identifier: Apache-2.0
"""The command reviews files, folders and patches, and reports each bad input in one line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from review import examples, guide, report
from review.__main__ import main
from review.facts import LARGEST

ROOT = Path(__file__).parents[2]
PATCH = """\
From: A Vendor <a@vendor.example>
Subject: [PATCH] drivers/perf: example: count reads

---
diff --git a/drivers/perf/example.c b/drivers/perf/example.c
--- a/drivers/perf/example.c
+++ b/drivers/perf/example.c
@@ -122,7 +122,7 @@ static int ex_event_init(struct perf_event *event)
 \t\treturn -EINVAL;

 \tif (event->attr.config & ~EX_EVENT_MASK) {
-\t\tdev_dbg(ex->dev, "unknown event\\n");
+\t\tdev_err(ex->dev, "unknown event\\n");
 \t\treturn -EINVAL;
 \t}

"""
REPLY = """\
> +\t\tdev_err(ex->dev, "unknown event\\n");

[BREACH, SRC-007] event_init prints by dev_err(): any user fills the log.
A user without privileges can fill the kernel log.

>  \t\treturn -EINVAL;
"""


@pytest.fixture(name="tree")
def fixture_tree(tmp_path: Path) -> Path:
    """A kernel tree with a driver that has one finding, outside of the lines of the patch."""
    folder = tmp_path / "tree" / "drivers" / "perf"
    folder.mkdir(parents=True)
    text = examples.CLEAN.read_text("utf-8").replace("\t\t.module = THIS_MODULE,\n", "")
    (folder / "example.c").write_text(text, "utf-8")
    (tmp_path / "mail.patch").write_text(
        PATCH.replace("\n\n \tif", "\n \n \tif").replace("}\n\n", "}\n \n")
    )
    return tmp_path / "tree"


def test_breach_is_exit_status_1_and_names_rule_line_and_reason(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tree)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "example.c:" in lines[0] and "BREACH module-owner (DRC-009, HOT-009)" in lines[0]
    assert lines[1].startswith("    why: rmmod succeeds")
    assert lines[2] == '    fixed elsewhere: ccf26483416a ("perf/x86/amd/power: Assign pmu.module")'
    assert lines[3].startswith("1 file: 1 BREACH;")


def test_clean_driver_is_exit_status_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--files", str(examples.CLEAN)]) == 0
    assert "nothing found" in capsys.readouterr().out


def test_patch_is_judged_by_its_own_lines_alone(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tree.parent / "mail.patch"), "--tree", str(tree)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("drivers/perf/example.c:127: BREACH user-print")
    assert len(lines) == 3


def test_reply_has_the_finding_below_the_line(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tree.parent / "mail.patch"), "--tree", str(tree), "--reply"]) == 1
    out = capsys.readouterr().out
    assert REPLY in out
    head, _, quoted = out.split("\n[BREACH")[0].partition("\n\n")
    assert head.splitlines()[:2] == [
        "Subject: Re: [PATCH] drivers/perf: example: count reads",
        "To: A Vendor <a@vendor.example>",
    ]
    assert quoted.startswith("A Vendor <a@vendor.example> wrote:\n[ ... ]\n> --- a/drivers")
    assert all(line[:1] in (">", "") for line in quoted.splitlines()[2:])


def test_json_is_a_file_of_the_layer_source(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tree), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["layer"] == "source" and found["problems"] == []
    cases = {case["id"]: case for case in found["cases"]}
    assert cases["source.module-owner"]["result"] == "FAIL"
    assert cases["source.module-owner"]["findings"][0]["verdict"] == "BREACH"
    assert cases["source.parent"]["result"] == "PASS"


def test_sarif_names_a_rule_and_a_place_for_each_result(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tree), "--sarif"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["version"] == "2.1.0" and found["$schema"].endswith("sarif-2.1.0.json")
    (run,) = found["runs"]
    known = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    (result,) = run["results"]
    assert result["ruleId"] in known and result["level"] == "error" and result["message"]["text"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"].endswith("example.c")
    assert place["region"]["startLine"] > 1


def test_waived_finding_is_counted_and_not_printed(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    waivers = tmp_path / "waivers.toml"
    waivers.write_text('[[review]]\ncheck = "module-owner"\nreason = "It is never unloaded."\n')
    assert main([str(tree), "--waive", str(waivers)]) == 0
    assert "1 waived" in capsys.readouterr().out


@pytest.mark.parametrize(
    "text, message",
    [
        (
            '[[review]]\ncheck = "nonsense"\nreason = "x"\n',
            "unknown check nonsense; known: type-first",
        ),
        ('[[review]]\ncheck = "parent"\n', "no key 'reason'"),
        ("[[review\n", "Expected"),
    ],
)
def test_bad_file_of_waivers_is_a_one_line_error(
    tree: Path, tmp_path: Path, text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    waivers = tmp_path / "waivers.toml"
    waivers.write_text(text)
    assert main([str(tree), "--waive", str(waivers)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "waivers.toml" in line and message in line


@pytest.mark.parametrize(
    "data, message",
    [(b"x" * (LARGEST + 1), "bytes; a source has at most"), (b"int a;\0", "not a text")],
)
def test_file_that_cannot_be_read_is_a_one_line_error(
    tmp_path: Path, data: bytes, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.c"
    file.write_bytes(data)
    assert main([str(file)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "a.c" in line and message in line


def test_source_without_a_pmu_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.c"
    file.write_text("int f(void) { return 1; ((( }\n")
    assert main([str(file)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "a.c: no struct pmu" in line


def test_wrong_arguments_are_one_line_errors(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    mail = str(tree.parent / "mail.patch")
    for words, message in (
        ([str(tmp_path / "absent.c")], "no such file or folder"),
        ([str(empty)], "no source in this folder registers a PMU"),
        ([mail], "needs --tree DIR"),
        ([mail, "--tree", str(empty)], "does not apply"),
        ([str(tree), "--reply"], "--reply needs a patch"),
        ([str(examples.CLEAN), "--tree", str(empty)], "no kernel tree"),
    ):
        assert main(words) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert message in line


def test_file_outside_of_the_tree_is_not_patched(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mail = tmp_path / "bad.patch"
    mail.write_text("--- a/../x.c\n+++ b/../x.c\n@@ -0,0 +1 @@\n+int a;\n")
    assert main([str(mail), "--tree", str(tree)]) == 2
    assert "is not in the tree" in capsys.readouterr().err
    assert not (tmp_path / "x.c").exists()


def test_kernel_tree_shows_option_maintainer_and_page(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(examples.CLEAN, tree / "drivers/perf/example.c")
    (tree / "MAINTAINERS").write_text("PERF\nF:\tdrivers/perf/\n")
    (tree / "drivers/perf/Makefile").write_text("obj-$(CONFIG_EXAMPLE_PMU) += example.o\n")
    (tree / "drivers/perf/Kconfig").write_text(
        'config EXAMPLE_PMU\n\ttristate "Example"\n\tdepends on ARCH_EXAMPLE\n'
    )
    pages = tree / "Documentation/admin-guide/perf"
    pages.mkdir(parents=True)
    (pages / "index.rst").write_text("nothing\n")
    assert main([str(tree), "--tree", str(tree)]) == 1
    out = capsys.readouterr().out
    assert "Kconfig:1: BREACH kconfig (SRC-012): EXAMPLE_PMU has no help text" in out
    assert "no entry of MAINTAINERS names the driver" in out
    assert "no page of Documentation/admin-guide/perf is about the driver" in out

    (tree / "MAINTAINERS").write_text("EXAMPLE\nF:\tdrivers/perf/example*\n")
    (tree / "drivers/perf/Kconfig").write_text(
        'config EXAMPLE_PMU\n\ttristate "Example"\n\tdepends on ARCH_EXAMPLE || COMPILE_TEST\n'
        "\thelp\n\t  An example.\n"
    )
    (pages / "example.rst").write_text("The example PMU\n")
    assert main([str(tree), "--tree", str(tree)]) == 0


def test_events_of_perf_that_the_driver_lacks_are_reported(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = (tree / "drivers/perf/example.c").read_text("utf-8")
    (tree / "MAINTAINERS").write_text("EXAMPLE\nF:\tdrivers/perf/example*\n")
    sys = tree / "tools/perf/pmu-events/arch/arm64/example/sys"
    sys.mkdir(parents=True)
    entries = [
        {"EventName": "good", "EventCode": "0x1", "Unit": "example"},
        {
            "MetricName": "bad",
            "Unit": "example",
            "MetricExpr": "example0@cycles\\\\,absent\\\\=1@ * 2",
        },
        {"MetricName": "foreign", "Unit": "other", "MetricExpr": "other0@absent@"},
    ]
    (sys / "a.json").write_text(json.dumps(entries, indent=1))
    name = '#define NAME "example_%d"\n'
    (tree / "drivers/perf/example.c").write_text(source + name)
    main([str(tree), "--tree", str(tree)])
    out = capsys.readouterr().out
    assert out.count("BREACH pmu-events (SRC-013)") == 1
    assert "bad needs absent, which the driver example.c does not have" in out


def test_accepted_findings_may_be_in_a_target_file(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "yours.toml"
    target.write_text(
        '[target]\nname = "yours"\n[[event]]\nname = "a"\n'
        '[[review]]\ncheck = "module-owner"\nreason = "It is never unloaded."\n'
    )
    assert main([str(tree), "--waive", str(target)]) == 0
    assert "1 file: nothing found, 1 waived" in capsys.readouterr().out


def test_guide_of_the_documents_is_the_generated_one() -> None:
    assert (ROOT / "docs/passing-review.md").read_text("utf-8") == guide.markdown()


def test_other_forms_of_the_guide_have_each_duty() -> None:
    for text in (guide.restructured(), guide.machine()):
        for about in report.about_checks().values():
            assert about.title in text
