/** Lists the project's tokens: the permissions of each, when it was last used, and a button to revoke it. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { may, sessionQuery } from '../../api/session';
import { revokeToken, tokensKey, tokensQuery } from '../../api/tokens';
import type { CreatedToken, Token } from '../../api/types';
import { formatDateTime } from '../../lib/times';
import { ConfirmButton } from '../../ui/confirm-button';
import { DataTable, type Column } from '../../ui/data-table';
import { OneTimeSecret } from '../../ui/one-time-secret';
import { PagedList } from '../../ui/paged-list';
import { Page } from '../../ui/page';
import { Panel } from '../../ui/panel';
import { EmptyState } from '../../ui/states';
import { Status, type Badge } from '../../ui/status';
import { TimeAgo } from '../../ui/time-ago';
import { TokenForm } from './token-form';
import classes from './tokens.module.css';
import type { TokensSearch } from './tokens-search';

export interface TokensPageProps {
  search: TokensSearch;
  onSearch: (search: TokensSearch) => void;
}

export function TokensPage({ search, onSearch }: TokensPageProps) {
  const session = useQuery(sessionQuery);
  const tokens = useQuery(tokensQuery(search.cursor));
  const [created, setCreated] = useState<CreatedToken | null>(null);
  return (
    <Page
      title="Tokens"
      about="Programs such as CI act in this project with a token. It may do at most what its maker may do, and stops when its maker leaves."
    >
      {may(session.data, 'tokens.write') && (
        <Panel title="New token">
          <TokenForm
            held={session.data?.permissions ?? []}
            onCreated={setCreated}
          />
        </Panel>
      )}
      <Panel title="All tokens" flush>
        {created !== null && (
          <OneTimeSecret
            title={`Token ${created.name}`}
            secret={created.secret}
            advice="Store it as a secret of your pipeline, as PACELINE_TOKEN."
            onClose={() => setCreated(null)}
          />
        )}
        <PagedList
          query={tokens}
          what="the tokens"
          plural="tokens"
          icon="lock"
          lines={3}
          filtered={false}
          onClear={() => onSearch({})}
          cursor={search.cursor}
          onCursor={(cursor) => onSearch({ cursor })}
          empty={
            <EmptyState icon="lock" title="No tokens">
              Make one for a program that starts runs or reads verdicts.
            </EmptyState>
          }
        >
          {(rows) => (
            <DataTable
              label="Tokens"
              columns={COLUMNS}
              rows={rows}
              rowKey={({ id }) => id}
            />
          )}
        </PagedList>
      </Panel>
    </Page>
  );
}

function stateOf(token: Token): Badge {
  if (token.revoked_at !== null)
    return { tone: 'quiet', icon: 'blocked', word: 'revoked' };
  if (token.expires_at !== null && Date.parse(token.expires_at) <= Date.now())
    return { tone: 'quiet', icon: 'clock', word: 'expired' };
  return { tone: 'good', icon: 'check', word: 'in force' };
}

const COLUMNS: readonly Column<Token>[] = [
  {
    header: 'Name',
    wrap: true,
    cell: ({ name, prefix }) => (
      <>
        {name}
        <div className={`pl-mono ${classes.quiet}`}>{prefix}…</div>
      </>
    ),
  },
  { header: 'State', cell: (token) => <Status look={stateOf(token)} /> },
  {
    header: 'May',
    wrap: true,
    cell: ({ permissions }) => (
      <ul className={classes.permissions}>
        {permissions.map((permission) => (
          <li key={permission} className="pl-mono">
            {permission}
          </li>
        ))}
      </ul>
    ),
  },
  { header: 'Made by', cell: ({ made_by: by }) => by ?? '–', breaks: true },
  { header: 'Made', cell: ({ created_at: at }) => <TimeAgo at={at} /> },
  {
    header: 'Last used',
    cell: ({ last_used_at: at }) =>
      at === null ? 'never' : <TimeAgo at={at} />,
  },
  {
    header: 'Expires',
    cell: ({ expires_at: at }) =>
      at === null ? 'never' : <time dateTime={at}>{formatDateTime(at)}</time>,
  },
  {
    header: 'Change',
    cell: (token) =>
      token.revoked_at === null ? <RevokeButton token={token} /> : '–',
  },
];

function RevokeButton({ token: { id, name } }: { token: Token }) {
  const queryClient = useQueryClient();
  return (
    <ConfirmButton
      label="Revoke"
      name={`Revoke ${name}`}
      title={`Revoke ${name}?`}
      meaning="Programs that use it are refused from now on. It cannot be put in force again."
      confirm="Revoke"
      action={() => revokeToken(id)}
      onDone={() => void queryClient.invalidateQueries({ queryKey: tokensKey })}
    />
  );
}
