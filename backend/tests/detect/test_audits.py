"""Which figures an audit finding affects."""

from __future__ import annotations

from paceline_server.detect.audits import GroupAudit
from paceline_server.detect.groups import Group
from paceline_server.stats.audit import AuditFinding


def test_unequal_work_is_reported_against_the_reference_and_the_arms_that_agree_with_it() -> (
    None
):
    unequal = AuditFinding("unequal_work", ("raw", "seed"), {}, "raw counted less")
    audited = GroupAudit(Group("piece", {}), "seed", (unequal,), {}, None)
    assert audited.defects("raw", "seed") == [unequal]
    assert audited.defects("direct", "raw") == [unequal]
    assert audited.defects("raw", "direct") == [unequal]
    assert audited.defects("direct", "seed") == []
    assert audited.defects("direct", "batch_8") == []
    assert audited.defects("raw") == []
