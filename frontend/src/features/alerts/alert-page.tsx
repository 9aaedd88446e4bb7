/** Shows one alert: its claim, the evidence for it, and every decision that a person can make about it. */
import { Alert as Notice, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useRef, useState, type ReactNode } from 'react';

import { alertQuery } from '../../api/alerts';
import { may, sessionQuery } from '../../api/session';
import type { AlertAction, AlertDetail } from '../../api/types';
import { useLiveStream } from '../../api/use-live-stream';
import { shortId } from '../../lib/ids';
import { formatDate } from '../../lib/times';
import { AppLink } from '../../ui/app-link';
import { Icon } from '../../ui/icon';
import { KeyboardHelp, type ShortcutList } from '../../ui/keyboard-help';
import { QueryView } from '../../ui/query-view';
import {
  ACTION_LABELS,
  ALERT_KINDS,
  ALERT_STATE_MEANING,
  ALERT_STATES,
  DEMONSTRATION,
  SHADOW,
} from '../../ui/state-badges';
import { MuteMark } from '../../ui/mute';
import { Page } from '../../ui/page';
import { Facts, Panel, MainAndAside } from '../../ui/panel';
import { Status } from '../../ui/status';
import { TargetName } from '../../ui/target-name';
import { TimeAgo } from '../../ui/time-ago';
import { useShortcuts } from '../../ui/use-shortcuts';
import { AlertHistory } from './alert-history';
import { BisectPanel } from './bisect-panel';
import { BlamePanel } from './blame-panel';
import { Evidence } from './evidence';
import { ExpectedDialog } from './expected-dialog';
import { ExplainPanel } from './explain-panel';
import { IssueLink } from './due-and-issue-fields';
import { MutePanel } from './mute-panel';
import { RuleLink } from './rule-link';
import { TriagePanel } from './triage-panel';
import { needsBaseline, useAlertAction, useAssign } from './use-triage';

export interface AlertPageProps {
  alertId: string;
  onInbox: () => void;
}

const KEYS: ShortcutList = [
  ...Object.values(ACTION_LABELS).map(
    ({ key, label }) => [key, label.toLowerCase()] as const,
  ),
  ['m', 'assign it to me'],
  ['n', 'write a note'],
  ['u', 'back to the inbox'],
  ['?', 'keyboard shortcuts'],
];

export function AlertPage({ alertId, onInbox }: AlertPageProps) {
  const alert = useQuery(alertQuery(alertId));
  const [help, setHelp] = useState(false);
  const note = useRef<HTMLTextAreaElement>(null);
  useLiveStream({
    enabled: true,
    onEvent: ({ kind, data }) => {
      if (kind === 'alert' && data['id'] === alertId) void alert.refetch();
    },
  });
  const session = useQuery(sessionQuery);
  const allowed = may(session.data, 'alerts.triage');
  const decide = useDecision(alert.data);
  useTriageKeys(alert.data, decide.ask, {
    note: () => note.current?.focus(),
    inbox: onInbox,
    help: () => setHelp(true),
  });
  return (
    <Page
      title={alert.data?.title ?? 'Alert'}
      crumb={<AppLink to="/alerts">Alerts</AppLink>}
      {...(alert.data === undefined
        ? {}
        : { lead: <Lead alert={alert.data} /> })}
      actions={<KeyboardHelp keys={KEYS} opened={help} onToggle={setHelp} />}
    >
      <QueryView query={alert} what="alert" lines={10}>
        {(data) => (
          <MainAndAside
            main={
              <>
                <Claim alert={data} />
                <BlamePanel alert={data} />
                <Evidence alert={data} />
                <BisectPanel alert={data} allowed={allowed} />
                {data.findings.length > 0 && <ExplainPanel alertId={data.id} />}
              </>
            }
            aside={
              <>
                <TriagePanel
                  alert={data}
                  noteRef={note}
                  onAct={decide.ask}
                  busy={decide.busy}
                />
                <MutePanel alert={data} />
                <AlertFacts alert={data} />
                <AlertHistory events={data.history} />
              </>
            }
          />
        )}
      </QueryView>
      {alert.data !== undefined && (
        <ExpectedDialog
          key={alert.data.head_commit}
          opened={decide.asking}
          suggested={alert.data.head_commit}
          onClose={decide.cancel}
          onConfirm={decide.expect}
        />
      )}
    </Page>
  );
}

/**
 * Actions run at once, except `expected` of a change, which first asks for the commit of the new baseline.
 */
function useDecision(alert: AlertDetail | undefined) {
  const [asking, setAsking] = useState(false);
  const act = useAlertAction();
  return {
    asking,
    busy: act.isPending,
    cancel: () => setAsking(false),
    ask: (action: AlertAction) => {
      if (alert === undefined) return;
      if (action === 'expected' && needsBaseline(alert)) setAsking(true);
      else act.mutate({ id: alert.id, action });
    },
    expect: (baselineCommit: string | undefined, note: string | undefined) => {
      setAsking(false);
      if (alert !== undefined)
        act.mutate({ id: alert.id, action: 'expected', baselineCommit, note });
    },
  };
}

interface KeyTargets {
  note: () => void;
  inbox: () => void;
  help: () => void;
}

function useTriageKeys(
  alert: AlertDetail | undefined,
  ask: (action: AlertAction) => void,
  { note, inbox, help }: KeyTargets,
): void {
  const session = useQuery(sessionQuery);
  const assign = useAssign();
  const allowed = may(session.data, 'alerts.triage');
  const actions = alert === undefined || !allowed ? [] : alert.actions;
  const me = session.data?.account;
  useShortcuts(
    {
      ...Object.fromEntries(
        actions.map((action) => [ACTION_LABELS[action].key, () => ask(action)]),
      ),
      m:
        alert !== undefined && allowed && me !== undefined
          ? () => assign.mutate({ id: alert.id, account: me })
          : undefined,
      n: allowed ? note : undefined,
      u: inbox,
    },
    { '?': help },
  );
}

function Lead({ alert }: { alert: AlertDetail }) {
  return (
    <Group gap={8} component="span">
      <Status look={ALERT_STATES[alert.state]} />
      {alert.demonstration && <Status look={DEMONSTRATION} />}
      {alert.shadow && (
        <Status
          look={SHADOW}
          title="Raised by a shadow rule: nobody is notified."
        />
      )}
      {alert.mute !== null && <MuteMark mute={alert.mute} />}
      <span>{ALERT_STATE_MEANING[alert.state]}</span>
    </Group>
  );
}

function Claim({ alert }: { alert: AlertDetail }) {
  return (
    <Panel title="Summary">
      {alert.demonstration && (
        <Notice
          variant="outline"
          color="grape"
          mb="sm"
          icon={<Icon name="flask" />}
        >
          Demonstration: a knob slowed this run on purpose. The alert works like
          a real one.
        </Notice>
      )}
      <p style={{ margin: '0 0 0.5rem', fontSize: '1.1rem', fontWeight: 600 }}>
        {alert.words}
      </p>
      <p style={{ margin: 0, maxWidth: '85ch' }}>{alert.explanation}</p>
      <p
        style={{
          margin: '0.75rem 0 0',
          color: 'var(--pl-muted)',
          maxWidth: '85ch',
        }}
      >
        Rule <RuleLink alert={alert} /> (version {alert.rule.version})
        {alert.explanation.includes(alert.rule.text)
          ? '.'
          : `: ${alert.rule.text}`}
      </p>
    </Panel>
  );
}

/** Returns whether the outcome of a run, or no run at all, is the evidence, so that nothing is measured again to confirm it. */
function isOfRun({ kind, findings }: AlertDetail): boolean {
  return (
    kind === 'gate' ||
    kind === 'missing' ||
    kind === 'schedule' ||
    findings.some((finding) => finding.run_id === null)
  );
}

function measuredFacts(
  alert: AlertDetail,
): readonly (readonly [string, ReactNode])[] {
  const { suite, benchmark } = alert;
  if (benchmark === '') return suite === '' ? [] : [['Suite', suite]];
  return [
    [
      'Benchmark',
      <AppLink
        key="b"
        to="/arms"
        search={{ suite, benchmark, target: alert.target_id ?? undefined }}
      >
        {suite} / {benchmark}
      </AppLink>,
    ],
    subjectOf(alert),
  ];
}

function subjectOf(alert: AlertDetail): readonly [string, string] {
  const { kind, arm, reference, metric } = alert;
  if (kind === 'arm_slower')
    return ['Arms', `${arm} against ${reference}, ${metric}`];
  if (metric === '') return ['Arm', arm];
  return [kind === 'gate' ? 'Gate of' : 'Worst at', `${arm}, ${metric}`];
}

function ConfirmationLink({ alert }: { alert: AlertDetail }) {
  const runId = alert.confirmation_run_id;
  if (runId === null) return <>not confirmed yet</>;
  return (
    <AppLink to="/runs/$runId" params={{ runId }}>
      Run {shortId(runId)}
    </AppLink>
  );
}

function AlertFacts({ alert }: { alert: AlertDetail }) {
  return (
    <Panel title="About">
      <Facts
        items={[
          ['Kind', ALERT_KINDS[alert.kind]],
          ...(alert.target_name === null
            ? []
            : [
                [
                  'Target',
                  <TargetName
                    key="t"
                    link
                    id={alert.target_id}
                    name={alert.target_name}
                  />,
                ] as const,
              ]),
          ...measuredFacts(alert),
          ...(alert.run_id === null
            ? []
            : [
                [
                  'Found in',
                  <AppLink
                    key="r"
                    to="/runs/$runId"
                    params={{ runId: alert.run_id }}
                  >
                    Run {shortId(alert.run_id)}
                  </AppLink>,
                ] as const,
              ]),
          ...(isOfRun(alert)
            ? []
            : [
                [
                  'Confirmed in',
                  <ConfirmationLink key="c" alert={alert} />,
                ] as const,
              ]),
          ['First seen', <TimeAgo key="f" at={alert.created_at} />],
          ...(alert.due_at === null
            ? []
            : [['Due', formatDate(alert.due_at)] as const]),
          ...(alert.issue_url === null
            ? []
            : [
                ['Issue', <IssueLink key="i" url={alert.issue_url} />] as const,
              ]),
          ...(alert.baseline_commit === null
            ? []
            : [
                [
                  'New baseline from',
                  alert.baseline_commit.slice(0, 10),
                ] as const,
              ]),
        ]}
      />
    </Panel>
  );
}
