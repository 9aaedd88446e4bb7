/** Words and looks of channels, their states and their deliveries. */
import type { Channel, ChannelKind, Delivery } from '../../api/types';
import type { Badge } from '../../ui/status';

export const KIND_LABELS: Record<ChannelKind, string> = {
  webhook: 'Webhook',
  slack: 'Slack',
  chat: 'Chat by template',
  email: 'E-mail',
};

export const KIND_OPTIONS = Object.entries(KIND_LABELS).map(
  ([value, label]) => ({ value, label }),
);

const STATES: Record<Channel['state'], Badge> = {
  healthy: { tone: 'good', icon: 'check', word: 'healthy' },
  failing: { tone: 'unsure', icon: 'warning', word: 'failing' },
  broken: { tone: 'bad', icon: 'blocked', word: 'broken' },
};

export function stateOf({ state }: Channel): Badge {
  return STATES[state];
}

export const DELIVERY_STATES: Record<Delivery['state'], Badge> = {
  pending: { tone: 'busy', icon: 'clock', word: 'pending' },
  collected: { tone: 'quiet', icon: 'clock', word: 'in the next digest' },
  digested: { tone: 'good', icon: 'check', word: 'in a digest' },
  delivered: { tone: 'good', icon: 'check', word: 'delivered' },
  failed: { tone: 'bad', icon: 'cross', word: 'failed' },
  skipped: { tone: 'quiet', icon: 'muted', word: 'skipped' },
};

export const FILTER_LABELS = {
  severities: 'Severities',
  kinds: 'Events',
  states: 'States',
  suites: 'Suites',
  targets: 'Targets',
  branches: 'Branches',
} as const;

/** Returns the filters that have patterns as one line, or null if everything is sent. */
export function filtersText({ filters }: Channel): string | null {
  const parts = Object.entries(FILTER_LABELS).flatMap(([name, label]) => {
    const patterns = filters[name as keyof typeof FILTER_LABELS];
    return patterns.length === 0
      ? []
      : [`${label.toLowerCase()} ${patterns.join(', ')}`];
  });
  return parts.length === 0 ? null : parts.join('; ');
}

export function isMuted({ muted_until: until }: Channel): boolean {
  return until !== null && Date.parse(until) > Date.now();
}
