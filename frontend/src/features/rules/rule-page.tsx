/** Shows one rule: its definition, alert quality, mutes, versions, and the form of its next version. */
import { Button, Group, Modal } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { deleteRule, ruleKeys, ruleQuery, updateRule } from '../../api/rules';
import { may, sessionQuery } from '../../api/session';
import type { RuleDetail } from '../../api/types';
import { rulePatternsText } from '../../lib/rule-patterns';
import { formatPercent } from '../../lib/units';
import { paramsLabel } from '../../lib/params';
import { AppLink } from '../../ui/app-link';
import { QueryView } from '../../ui/query-view';
import { MuteMark } from '../../ui/mute';
import { Page } from '../../ui/page';
import { Facts, Panel, MainAndAside } from '../../ui/panel';
import { Status } from '../../ui/status';
import { TimeAgo } from '../../ui/time-ago';
import { MutePanel } from './mute-panel';
import { draftOf } from './rule-draft';
import { RuleForm } from './rule-form';
import { RuleVersions } from './rule-versions';
import {
  DIRECTION_LABELS,
  hasEffect,
  KIND_LABELS,
  MODE_BADGES,
  MODE_MEANING,
} from './rule-labels';
import classes from './rules.module.css';

export interface RulePageProps {
  ruleId: string;
  onDeleted: () => void;
}

export function RulePage({ ruleId, onDeleted }: RulePageProps) {
  const rule = useQuery(ruleQuery(ruleId));
  const session = useQuery(sessionQuery);
  const [editing, setEditing] = useState(false);
  const allowed = may(session.data, 'rules.write');
  return (
    <Page
      title={rule.data?.name ?? 'Rule'}
      crumb={<AppLink to="/rules">Rules</AppLink>}
      {...(rule.data === undefined ? {} : { lead: <Lead rule={rule.data} /> })}
      actions={
        allowed &&
        rule.data !== undefined &&
        (editing ? (
          <Button variant="default" onClick={() => setEditing(false)}>
            Cancel editing
          </Button>
        ) : (
          <Group gap="xs">
            <Button onClick={() => setEditing(true)}>Edit</Button>
            <DeleteRule rule={rule.data} onDeleted={onDeleted} />
          </Group>
        ))
      }
    >
      <QueryView query={rule} what="rule" lines={8}>
        {(data) =>
          editing ? (
            <RuleForm
              key={data.version}
              initial={draftOf(data.name, data)}
              ruleId={data.id}
              save={(next) => updateRule(data.id, next, data.version)}
              onSaved={() => setEditing(false)}
            />
          ) : (
            <MainAndAside
              main={
                <>
                  <RuleContent rule={data} />
                  <RuleVersions ruleId={data.id} />
                </>
              }
              aside={
                <>
                  <MutePanel rule={data} allowed={allowed} />
                  <Precision rule={data} />
                </>
              }
            />
          )
        }
      </QueryView>
    </Page>
  );
}

function Lead({ rule }: { rule: RuleDetail }) {
  return (
    <Group gap={8} component="span">
      <Status look={MODE_BADGES[rule.mode]} />
      <span>{MODE_MEANING[rule.mode]}</span>
      {rule.mute !== null && <MuteMark mute={rule.mute} />}
    </Group>
  );
}

function RuleContent({ rule }: { rule: RuleDetail }) {
  return (
    <Panel title="Definition">
      <p className={classes.words}>{rule.text}</p>
      <Facts
        items={[
          ['Scope', rulePatternsText(rule)],
          ['Watches', KIND_LABELS[rule.kind]],
          ...(hasEffect(rule.kind)
            ? ([
                [
                  'Alerts when it',
                  `${DIRECTION_LABELS[rule.direction]} by ${formatPercent(rule.min_effect)} or more`,
                ],
              ] as const)
            : []),
          ['Owner', rule.owner?.name ?? 'nobody'],
          ['Version', `${rule.version}, by ${rule.created_by}`],
          ['Since', <TimeAgo key="since" at={rule.created_at} />],
        ]}
      />
      <p className={classes.sub}>
        {rule.floor === null ? (
          <>
            No A/A run has measured the noise floor of its targets.{' '}
            <AppLink to="/noise">Switch on A/A runs.</AppLink>
          </>
        ) : (
          <>
            Noise floor in its scope: {rule.floor.words} ({rule.floor.benchmark}
            , {rule.floor.arm}, {paramsLabel(rule.floor.params)}), measured{' '}
            <TimeAgo at={rule.floor.measured_at} />.
          </>
        )}
      </p>
    </Panel>
  );
}

function Precision({ rule: { precision, id } }: { rule: RuleDetail }) {
  return (
    <Panel
      title="Alert quality"
      about="Useful: fixed, expected or acknowledged. False: invalid, vanished or blamed on infrastructure. Demonstrations and simulated targets are not counted."
    >
      <p style={{ margin: '0 0 0.6rem' }}>{precision.words}</p>
      <Facts
        items={[
          ['Useful', precision.worth_it],
          ['False', precision.false],
          ['Not judged yet', precision.undecided],
        ]}
      />
      <p className={classes.sub}>
        <AppLink to="/alerts" search={{ rule: id }}>
          Show alerts
        </AppLink>
      </p>
    </Panel>
  );
}

function DeleteRule({
  rule,
  onDeleted,
}: {
  rule: RuleDetail;
  onDeleted: () => void;
}) {
  const [asking, setAsking] = useState(false);
  const queryClient = useQueryClient();
  const remove = useMutation({
    mutationFn: () => deleteRule(rule.id),
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: ruleKeys.all });
      onDeleted();
    },
  });
  return (
    <>
      <Button variant="default" onClick={() => setAsking(true)}>
        Remove rule
      </Button>
      <Modal
        opened={asking}
        onClose={() => setAsking(false)}
        title={`Remove ${rule.name}?`}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <p style={{ marginTop: 0 }}>
          A less specific rule or the built-in default decides instead. Its
          versions are kept, because alerts name them.
        </p>
        {remove.error !== null && (
          <p role="alert">Not removed: {remove.error.message}</p>
        )}
        <Group>
          <Button
            color="red"
            loading={remove.isPending}
            onClick={() => remove.mutate()}
          >
            Remove
          </Button>
          <Button variant="default" onClick={() => setAsking(false)}>
            Cancel
          </Button>
        </Group>
      </Modal>
    </>
  );
}
