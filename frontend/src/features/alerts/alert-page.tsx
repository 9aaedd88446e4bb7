/** One alert: what is claimed, the evidence for it, and everything a person can decide about it. */
import { Alert as Notice, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';

import { alertQuery } from '../../api/alerts';
import { may, sessionQuery } from '../../api/session';
import type { AlertDetail } from '../../api/types';
import { useLiveStream } from '../../api/use-live-stream';
import { shortId } from '../../lib/ids';
import { AppLink } from '../../ui/app-link';
import { Icon } from '../../ui/icon';
import { KeyboardHelp, type KeyWords } from '../../ui/keyboard-help';
import { Loaded } from '../../ui/loaded';
import { ACTION_WORDS, ALERT_STATE_MEANING, ALERT_STATES, DEMONSTRATION } from '../../ui/looks';
import { Page } from '../../ui/page';
import { Facts, Panel, Split } from '../../ui/panel';
import { Status } from '../../ui/status';
import { TimeAgo } from '../../ui/time-ago';
import { useKeys } from '../../ui/use-keys';
import { AlertHistory } from './alert-history';
import { Evidence } from './evidence';
import { TriagePanel } from './triage-panel';
import { useAct, useAssign } from './use-triage';

export interface AlertPageProps {
  alertId: string;
  onInbox: () => void;
}

const KEYS: KeyWords = [
  ...Object.values(ACTION_WORDS).map(({ key, label }) => [key, label.toLowerCase()] as const),
  ['m', 'assign it to me'],
  ['n', 'write a note'],
  ['u', 'back to the inbox'],
  ['?', 'this help'],
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
  useTriageKeys(alert.data, { note: () => note.current?.focus(), inbox: onInbox, help: () => setHelp(true) });
  return (
    <Page
      title={alert.data?.title ?? 'Alert'}
      crumb={<AppLink to="/alerts">Alerts</AppLink>}
      {...(alert.data === undefined ? {} : { lead: <Lead alert={alert.data} /> })}
      actions={<KeyboardHelp keys={KEYS} opened={help} onToggle={setHelp} />}
    >
      <Loaded query={alert} what="alert" lines={10}>
        {(data) => (
          <Split
            main={
              <>
                <Claim alert={data} />
                <Evidence alert={data} />
              </>
            }
            aside={
              <>
                <TriagePanel alert={data} noteRef={note} />
                <AlertFacts alert={data} />
                <AlertHistory events={data.history} />
              </>
            }
          />
        )}
      </Loaded>
    </Page>
  );
}

interface KeyTargets {
  note: () => void;
  inbox: () => void;
  help: () => void;
}

function useTriageKeys(alert: AlertDetail | undefined, { note, inbox, help }: KeyTargets): void {
  const session = useQuery(sessionQuery);
  const act = useAct();
  const assign = useAssign();
  const allowed = may(session.data, 'alerts:write');
  const actions = alert === undefined || !allowed ? [] : alert.actions;
  const me = session.data?.account;
  useKeys(
    {
      ...Object.fromEntries(
        actions.map((action) => [
          ACTION_WORDS[action].key,
          () => {
            if (alert !== undefined) act.mutate({ id: alert.id, action });
          },
        ]),
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
      <span>{ALERT_STATE_MEANING[alert.state]}</span>
    </Group>
  );
}

function Claim({ alert }: { alert: AlertDetail }) {
  return (
    <Panel title="What was found">
      {alert.demonstration && (
        <Notice variant="outline" color="grape" mb="sm" icon={<Icon name="flask" />}>
          A demonstration: the run was slowed by a knob on purpose. The alert works like a real one.
        </Notice>
      )}
      <p style={{ margin: '0 0 0.5rem', fontSize: '1.1rem', fontWeight: 600 }}>{alert.words}</p>
      <p style={{ margin: 0, maxWidth: '85ch' }}>{alert.explanation}</p>
      <p style={{ margin: '0.75rem 0 0', color: 'var(--pl-muted)', maxWidth: '85ch' }}>
        Rule <span className="pl-mono">{alert.rule.name}</span> (version {alert.rule.version}):{' '}
        {alert.rule.text}
      </p>
    </Panel>
  );
}

function AlertFacts({ alert }: { alert: AlertDetail }) {
  return (
    <Panel title="About">
      <Facts
        items={[
          [
            'Target',
            <AppLink key="t" to="/targets/$targetId" params={{ targetId: alert.target_id }}>
              {alert.target_name}
            </AppLink>,
          ],
          [
            'Benchmark',
            <AppLink
              key="b"
              to="/arms"
              search={{ suite: alert.suite, benchmark: alert.benchmark, target: alert.target_id }}
            >
              {alert.suite} / {alert.benchmark}
            </AppLink>,
          ],
          ['Arms', `${alert.arm} against ${alert.reference}, ${alert.metric}`],
          [
            'Found in',
            <AppLink key="r" to="/runs/$runId" params={{ runId: alert.run_id }}>
              Run {shortId(alert.run_id)}
            </AppLink>,
          ],
          [
            'Confirmed in',
            alert.confirmation_run_id === null ? (
              'no confirmation run yet'
            ) : (
              <AppLink key="c" to="/runs/$runId" params={{ runId: alert.confirmation_run_id }}>
                Run {shortId(alert.confirmation_run_id)}
              </AppLink>
            ),
          ],
          ['First seen', <TimeAgo key="f" at={alert.created_at} />],
        ]}
      />
    </Panel>
  );
}
