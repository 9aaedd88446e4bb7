/** /members, /tokens, /installation and /account: lists whose cursors are in the address. */
import { getRouteApi } from '@tanstack/react-router';

import { AccountPage } from '../../features/account/account-page';
import { InstallationPage } from '../../features/installation/installation-page';
import { MembersPage } from '../../features/members/members-page';
import { TokensPage } from '../../features/tokens/tokens-page';
import { compact } from '../../lib/search-values';

const members = getRouteApi('/app/members');
const account = getRouteApi('/app/account');
const tokens = getRouteApi('/app/tokens');
const installation = getRouteApi('/app/installation');

export function MembersRoute() {
  const navigate = members.useNavigate();
  return (
    <MembersPage
      search={compact(members.useSearch())}
      onSearch={(search) => void navigate({ search: compact(search) })}
    />
  );
}

export function AccountRoute() {
  const navigate = account.useNavigate();
  return (
    <AccountPage
      search={compact(account.useSearch())}
      onSearch={(search) => void navigate({ search: compact(search) })}
    />
  );
}

export function TokensRoute() {
  const navigate = tokens.useNavigate();
  return (
    <TokensPage
      search={compact(tokens.useSearch())}
      onSearch={(search) => void navigate({ search: compact(search) })}
    />
  );
}

export function InstallationRoute() {
  const navigate = installation.useNavigate();
  return (
    <InstallationPage
      search={compact(installation.useSearch())}
      onSearch={(search) => void navigate({ search: compact(search) })}
    />
  );
}
