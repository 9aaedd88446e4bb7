/** What a person types about a channel, and the request it becomes. */
import type {
  Channel,
  ChannelChange,
  ChannelKind,
  ChannelRequest,
} from '../../api/types';

export const PATTERN_FIELDS = [
  'kinds',
  'states',
  'suites',
  'targets',
  'branches',
] as const;
export type PatternField = (typeof PATTERN_FIELDS)[number];
export type Severity = Channel['filters']['severities'][number];

export interface ChannelDraft {
  name: string;
  kind: ChannelKind;
  /** The URL, or e-mail addresses separated by commas. Empty: unchanged. */
  address: string;
  severities: Severity[];
  /** Patterns separated by commas. */
  patterns: Record<PatternField, string>;
  timeZone: string;
  quietBegins: string;
  quietEnds: string;
  digestAt: string;
}

export const EMPTY_DRAFT: ChannelDraft = {
  name: '',
  kind: 'webhook',
  address: '',
  severities: [],
  patterns: { kinds: '', states: '', suites: '', targets: '', branches: '' },
  timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  quietBegins: '',
  quietEnds: '',
  digestAt: '',
};

export function draftOf(channel: Channel): ChannelDraft {
  const { filters } = channel;
  const text = (field: PatternField) => filters[field].join(', ');
  return {
    name: channel.name,
    kind: channel.kind,
    address: channel.kind === 'email' ? channel.address : '',
    severities: [...filters.severities],
    patterns: {
      kinds: text('kinds'),
      states: text('states'),
      suites: text('suites'),
      targets: text('targets'),
      branches: text('branches'),
    },
    timeZone: channel.time_zone,
    quietBegins: channel.quiet_hours?.begins ?? '',
    quietEnds: channel.quiet_hours?.ends ?? '',
    digestAt: channel.digest_at ?? '',
  };
}

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function addressOf(draft: ChannelDraft) {
  if (draft.address.trim() === '') return {};
  return draft.kind === 'email'
    ? { recipients: listOf(draft.address) }
    : { url: draft.address.trim() };
}

function settingsOf(draft: ChannelDraft) {
  const { kinds, states, suites, targets, branches } = draft.patterns;
  return {
    name: draft.name.trim(),
    filters: {
      severities: draft.severities,
      kinds: listOf(kinds),
      states: listOf(states),
      suites: listOf(suites),
      targets: listOf(targets),
      branches: listOf(branches),
    },
    time_zone: draft.timeZone,
    quiet_hours:
      draft.quietBegins === ''
        ? null
        : { begins: draft.quietBegins, ends: draft.quietEnds },
    digest_at: draft.digestAt === '' ? null : draft.digestAt,
  };
}

export function requestOf(draft: ChannelDraft): ChannelRequest {
  return { ...settingsOf(draft), kind: draft.kind, ...addressOf(draft) };
}

/** An address that was not typed again stays: the server does not show it whole. */
export function changeOf(draft: ChannelDraft): ChannelChange {
  return { ...settingsOf(draft), ...addressOf(draft) };
}

/** Whether it can be sent: quiet hours have both ends or none. */
export function isComplete(draft: ChannelDraft, isNew: boolean): boolean {
  return (
    draft.name.trim() !== '' &&
    (!isNew || draft.address.trim() !== '') &&
    (draft.quietBegins === '') === (draft.quietEnds === '')
  );
}
