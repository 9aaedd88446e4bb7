/** Holds the fields of a channel's form and makes the request of them. */
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
  /** A URL, or e-mail addresses separated by commas; empty leaves the address unchanged. */
  address: string;
  severities: Severity[];
  /** Patterns separated by commas. */
  patterns: Record<PatternField, string>;
  /** The message of a chat, in JSON as it is typed. */
  template: string;
  timeZone: string;
  digestAt: string;
}

export const EMPTY_DRAFT: ChannelDraft = {
  name: '',
  kind: 'webhook',
  address: '',
  severities: [],
  patterns: { kinds: '', states: '', suites: '', targets: '', branches: '' },
  template: JSON.stringify(
    { text: '#### {title}\n{summary}\n\n{text}\n\n{facts}\n{links}' },
    null,
    2,
  ),
  timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
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
    template:
      channel.template === null
        ? ''
        : JSON.stringify(channel.template, null, 2),
    timeZone: channel.time_zone,
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

/** Parses a template. Throws a SyntaxError that says what is wrong with the text. */
function parseTemplate(text: string): Record<string, unknown> {
  const template: unknown = JSON.parse(text);
  if (
    typeof template !== 'object' ||
    template === null ||
    Array.isArray(template)
  )
    throw new SyntaxError(
      'A JSON object is expected, as in {"text": "{title}"}.',
    );
  return template as Record<string, unknown>;
}

/** Returns why the template of a chat cannot be sent, or null if it can. */
export function templateFault({ kind, template }: ChannelDraft): string | null {
  if (kind !== 'chat') return null;
  try {
    parseTemplate(template);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
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
    ...(draft.kind === 'chat' && { template: parseTemplate(draft.template) }),
    time_zone: draft.timeZone,
    digest_at: draft.digestAt === '' ? null : draft.digestAt,
  };
}

export function requestOf(draft: ChannelDraft): ChannelRequest {
  return { ...settingsOf(draft), kind: draft.kind, ...addressOf(draft) };
}

/** Returns the changes to send. An address that was not retyped is left out, because the server hides part of it. */
export function changeOf(draft: ChannelDraft): ChannelChange {
  return { ...settingsOf(draft), ...addressOf(draft) };
}

export function isComplete(draft: ChannelDraft, isNew: boolean): boolean {
  return (
    draft.name.trim() !== '' &&
    (!isNew || draft.address.trim() !== '') &&
    templateFault(draft) === null
  );
}
