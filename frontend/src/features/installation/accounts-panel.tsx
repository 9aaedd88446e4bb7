/** All accounts: who is disabled, who is an admin of the installation, and links for those who forgot their password. */
import { Alert, Button } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import {
  createResetLink,
  disableAccount,
  enableAccount,
  installationAccountsQuery,
  installationKeys,
  setInstallationAdmin,
  signOutAccount,
} from '../../api/installation';
import { sessionQuery } from '../../api/session';
import type { InstallationAccount } from '../../api/types';
import { ConfirmButton } from '../../ui/confirm-button';
import { DataTable, type Column } from '../../ui/data-table';
import { FilterBar } from '../../ui/filter-bar';
import { Icon } from '../../ui/icon';
import { OneTimeSecret } from '../../ui/one-time-secret';
import { PagedList } from '../../ui/paged-list';
import { Panel } from '../../ui/panel';
import { EmptyState } from '../../ui/states';
import { Status } from '../../ui/status';
import { TextFilter } from '../../ui/text-filter';
import { TimeAgo } from '../../ui/time-ago';
import classes from './installation.module.css';
import type { InstallationSearch } from './installation-search';

export interface AccountsPanelProps {
  search: InstallationSearch;
  onSearch: (search: InstallationSearch) => void;
}

interface HandedLink {
  name: string;
  url: string;
}

export function AccountsPanel({ search, onSearch }: AccountsPanelProps) {
  const accounts = useQuery(installationAccountsQuery(search));
  const session = useQuery(sessionQuery);
  const [link, setLink] = useState<HandedLink | null>(null);
  const actions: Column<InstallationAccount> = {
    header: 'Change',
    wrap: true,
    cell: (account) =>
      account.id === session.data?.account.id ? (
        '–'
      ) : (
        <Actions account={account} onLink={setLink} />
      ),
  };
  return (
    <Panel title="Accounts" flush>
      <div className={classes.filter}>
        <FilterBar label="Find accounts">
          <TextFilter
            label="Name or e-mail"
            placeholder="contains"
            value={search.q}
            onChange={(q) => onSearch(q === undefined ? {} : { q })}
          />
        </FilterBar>
      </div>
      {link !== null && (
        <OneTimeSecret
          title={`Link for ${link.name}`}
          secret={link.url}
          advice={`Give it to ${link.name}, who sets a new password with it.`}
          onClose={() => setLink(null)}
        />
      )}
      <PagedList
        query={accounts}
        what="the accounts"
        plural="accounts"
        icon="members"
        lines={3}
        filtered={search.q !== undefined}
        onClear={() => onSearch({})}
        cursor={search.cursor}
        onCursor={(cursor) => onSearch({ ...search, cursor })}
        empty={
          <EmptyState icon="members" title="No accounts">
            Invite people on the page Members.
          </EmptyState>
        }
      >
        {(rows) => (
          <DataTable
            label="Accounts"
            columns={[...COLUMNS, actions]}
            rows={rows}
            rowKey={({ id }) => id}
          />
        )}
      </PagedList>
    </Panel>
  );
}

const ADMIN = { tone: 'busy', icon: 'lock', word: 'admin' } as const;
const DISABLED = { tone: 'quiet', icon: 'blocked', word: 'disabled' } as const;

const COLUMNS: readonly Column<InstallationAccount>[] = [
  {
    header: 'Name',
    wrap: true,
    cell: ({ name, is_installation_admin: isAdmin, disabled_at: disabled }) => (
      <>
        {name} {isAdmin && <Status look={ADMIN} />}{' '}
        {disabled !== null && <Status look={DISABLED} />}
      </>
    ),
  },
  { header: 'E-mail', cell: ({ email }) => email ?? '–', wrap: true },
  {
    header: 'Password',
    cell: ({ has_password: has }) => (has ? 'set' : 'none'),
  },
  { header: 'Made', cell: ({ created_at: at }) => <TimeAgo at={at} /> },
];

interface ActionsProps {
  account: InstallationAccount;
  onLink: (link: HandedLink) => void;
}

function Actions({ account, onLink }: ActionsProps) {
  const { id, name, is_installation_admin: isAdmin } = account;
  const queryClient = useQueryClient();
  const refresh = () =>
    void queryClient.invalidateQueries({ queryKey: installationKeys.accounts });
  return (
    <div className={classes.actions}>
      {account.disabled_at === null ? (
        <>
          <ConfirmButton
            label="Disable"
            name={`Disable ${name}`}
            title={`Disable ${name}?`}
            meaning="Their sessions end and their tokens stop at once. What they did stays, and they can be enabled again."
            confirm="Disable"
            action={() => disableAccount(id)}
            onDone={refresh}
          />
          <ConfirmButton
            label="Sign out"
            name={`Sign out ${name}`}
            title={`Sign ${name} out everywhere?`}
            meaning="All their sessions end at once. They can sign in again; their tokens go on."
            confirm="Sign out"
            action={() => signOutAccount(id)}
            onDone={refresh}
          />
          <ResetButton account={account} onLink={onLink} />
        </>
      ) : (
        <ConfirmButton
          label="Enable"
          name={`Enable ${name}`}
          title={`Enable ${name}?`}
          meaning="They can sign in again, and their tokens work again."
          confirm="Enable"
          action={() => enableAccount(id)}
          onDone={refresh}
        />
      )}
      <ConfirmButton
        label={isAdmin ? 'Revoke admin' : 'Make admin'}
        name={isAdmin ? `Revoke admin of ${name}` : `Make ${name} an admin`}
        title={
          isAdmin
            ? `Should ${name} be an admin no more?`
            : `Make ${name} an admin of the installation?`
        }
        meaning="An admin of the installation sees and changes everything in every project."
        confirm={isAdmin ? 'Revoke' : 'Make admin'}
        action={() => setInstallationAdmin(id, !isAdmin)}
        onDone={refresh}
      />
    </div>
  );
}

function ResetButton({ account: { id, name, email }, onLink }: ActionsProps) {
  const reset = useMutation({
    mutationFn: () => createResetLink(id),
    onSuccess: ({ url }) => onLink({ name, url }),
  });
  if (email === null) return null;
  return (
    <>
      <Button
        variant="default"
        size="xs"
        aria-label={`Make a reset link for ${name}`}
        loading={reset.isPending}
        onClick={() => reset.mutate()}
      >
        Reset link
      </Button>
      {reset.error !== null && (
        <Alert
          color="red"
          variant="outline"
          role="alert"
          icon={<Icon name="warning" />}
        >
          Not made: {reset.error.message}
        </Alert>
      )}
    </>
  );
}
