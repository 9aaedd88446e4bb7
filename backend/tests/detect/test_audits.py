"""Which figures a finding of the audit touches."""

from __future__ import annotations

from paceline_server.detect.audits import GroupAudit
from paceline_server.detect.groups import Group
from paceline_server.stats.audit import AuditFinding


def test_other_work_than_the_reference_is_other_work_than_every_arm_that_agrees_with_it() -> (
    None
):
    unequal = AuditFinding("unequal_work", ("raw", "seed"), {}, "raw counted less")
    found = GroupAudit(Group("piece", {}), "seed", (unequal,), {}, None)
    assert found.defects("raw", "seed") == [unequal]
    assert found.defects("direct", "raw") == [unequal]
    assert found.defects("raw", "direct") == [unequal]
    assert found.defects("direct", "seed") == []
    assert found.defects("direct", "batch_8") == []
    assert found.defects("raw") == []
