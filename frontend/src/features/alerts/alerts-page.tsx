/** Lists filtered alerts for triage by keyboard or mouse. The alert that the keyboard selects is in the address. */
import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { alertsQuery } from '../../api/alerts';
import { may, sessionQuery } from '../../api/session';
import type { Alert } from '../../api/types';
import { useLiveStream } from '../../api/use-live-stream';
import { compact } from '../../lib/search-values';
import { KeyboardHelp, type ShortcutList } from '../../ui/keyboard-help';
import { QueryView } from '../../ui/query-view';
import { Page } from '../../ui/page';
import { Pager } from '../../ui/pager';
import { Panel } from '../../ui/panel';
import { EmptyState } from '../../ui/states';
import { useShortcuts } from '../../ui/use-shortcuts';
import { AlertsFilterBar } from './alerts-filter-bar';
import type { AlertsSearch } from './alerts-search';
import { AlertsTable } from './alerts-table';
import { BulkTriageBar } from './bulk-triage-bar';
import { useBulkTriage } from './use-bulk-triage';
import { useAlertAction } from './use-triage';

export interface AlertsPageProps {
  search: AlertsSearch;
  onSearch: (search: AlertsSearch, replace: boolean) => void;
  onOpen: (alertId: string) => void;
}

const KEYS: ShortcutList = [
  ['j', 'next alert'],
  ['k', 'previous alert'],
  ['Enter', 'open the alert'],
  ['a', 'acknowledge it'],
  ['x', 'select it'],
  ['z', 'undo the last bulk decision'],
  ['?', 'keyboard shortcuts'],
];

export function AlertsPage({ search, onSearch, onOpen }: AlertsPageProps) {
  const { at, ...filters } = search;
  const alerts = useQuery(alertsQuery(filters));
  const [help, setHelp] = useState(false);
  useLiveStream({
    enabled: true,
    onEvent: ({ kind }) => {
      if (kind === 'alert') void alerts.refetch();
    },
  });
  const items = alerts.data?.items ?? [];
  const current = items.find(({ id }) => id === at) ?? items[0];
  const choice = useChoice(items);
  const moveTo = (id: string | undefined) =>
    onSearch(compact({ ...search, at: id }), true);
  const acknowledge = useAcknowledge(items, moveTo);
  useInboxKeys({
    items,
    current,
    choice,
    stand: moveTo,
    acknowledge,
    onOpen,
    onHelp: () => setHelp(true),
  });
  return (
    <Page
      title="Alerts"
      about="Findings that need a decision. People are notified once a second session has confirmed one."
      actions={<KeyboardHelp keys={KEYS} opened={help} onToggle={setHelp} />}
    >
      <AlertsFilterBar
        search={search}
        onSearch={(next) => onSearch(next, false)}
      />
      <Panel
        title={
          Object.keys(filters).length > 0 ? 'Matching alerts' : 'All alerts'
        }
        flush
        actions={
          choice.allowed &&
          items.length > 1 && (
            <ChooseAll count={items.length} onAll={choice.all} />
          )
        }
      >
        {choice.chosen.length > 0 && (
          <BulkTriageBar
            chosen={choice.chosen}
            bulk={choice.bulk}
            onClear={choice.clear}
          />
        )}
        <QueryView query={alerts} what="the alerts" lines={6}>
          {(page) =>
            page.items.length === 0 ? (
              <NoAlerts search={search} onClear={() => onSearch({}, false)} />
            ) : (
              <>
                <AlertsTable
                  alerts={page.items}
                  current={current?.id}
                  onAcknowledge={acknowledge}
                  choice={
                    choice.allowed
                      ? { chosen: choice.ids, onToggle: choice.toggle }
                      : undefined
                  }
                />
                <Pager
                  cursor={search.cursor}
                  next={page.next}
                  onCursor={(cursor) =>
                    onSearch(compact({ ...filters, cursor }), false)
                  }
                />
              </>
            )
          }
        </QueryView>
      </Panel>
    </Page>
  );
}

function ChooseAll({ count, onAll }: { count: number; onAll: () => void }) {
  return (
    <Button size="compact-sm" variant="default" onClick={onAll}>
      Select all {count}
    </Button>
  );
}

interface InboxKeys {
  items: readonly Alert[];
  current: Alert | undefined;
  choice: ReturnType<typeof useChoice>;
  stand: (id: string | undefined) => void;
  acknowledge: (alert: Alert) => void;
  onOpen: (id: string) => void;
  onHelp: () => void;
}

function useInboxKeys({
  items,
  current,
  choice,
  stand,
  acknowledge,
  onOpen,
  onHelp,
}: InboxKeys): void {
  const move = (step: number) => {
    const index = items.findIndex(({ id }) => id === current?.id);
    const next = items[Math.min(items.length - 1, Math.max(0, index + step))];
    if (next !== undefined) stand(next.id);
  };
  useShortcuts(
    {
      j: () => move(1),
      k: () => move(-1),
      z: choice.bulk.undoLast,
      ...(current === undefined
        ? {}
        : {
            Enter: () => onOpen(current.id),
            a: () => acknowledge(current),
            x: () => choice.toggle(current.id),
          }),
    },
    { '?': onHelp },
  );
}

/** Keeps the selected alerts; an alert that is no longer listed is not selected. */
function useChoice(items: readonly Alert[]) {
  const session = useQuery(sessionQuery);
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const chosen = items.filter(({ id }) => ids.has(id));
  const clear = () => setIds(new Set());
  const allowed = may(session.data, 'alerts.triage');
  return {
    allowed,
    ids,
    chosen,
    bulk: useBulkTriage(chosen, clear),
    clear,
    all: () => setIds(new Set(items.map(({ id }) => id))),
    toggle: (id: string) => {
      if (!allowed) return;
      setIds((before) => {
        const next = new Set(before);
        if (!next.delete(id)) next.add(id);
        return next;
      });
    },
  };
}

/** Acknowledges an alert and moves to the next one, so that pressing `a` repeatedly works through the list. */
function useAcknowledge(
  items: readonly Alert[],
  stand: (id: string | undefined) => void,
): (alert: Alert) => void {
  const session = useQuery(sessionQuery);
  const act = useAlertAction();
  return (alert) => {
    if (!may(session.data, 'alerts.triage')) {
      notifications.show({
        color: 'red',
        message: 'You have no permission to triage alerts.',
      });
    } else if (alert.state !== 'open') {
      notifications.show({
        message: `Only an open alert can be acknowledged here; this one is ${alert.state}.`,
      });
    } else {
      const index = items.findIndex(({ id }) => id === alert.id);
      stand((items[index + 1] ?? items[index - 1] ?? alert).id);
      act.mutate({ id: alert.id, action: 'acknowledge' });
    }
  };
}

function NoAlerts({
  search,
  onClear,
}: {
  search: AlertsSearch;
  onClear: () => void;
}) {
  const { at: _at, ...filters } = search;
  const names = Object.keys(filters);
  if (names.length === 0) {
    return (
      <EmptyState icon="check" title="No alerts">
        An alert appears here once a second session confirms that something got
        slower. To see one, run a suite with a demonstration knob.
      </EmptyState>
    );
  }
  const clear = (
    <Button variant="default" onClick={onClear}>
      Show all alerts
    </Button>
  );
  if (names.length === 1 && search.state === 'open') {
    return (
      <EmptyState icon="check" title="No open alerts" action={clear}>
        Every confirmed alert was acknowledged or closed.
      </EmptyState>
    );
  }
  return (
    <EmptyState icon="alerts" title="No matching alerts" action={clear}>
      Widen the filters to see more.
    </EmptyState>
  );
}
