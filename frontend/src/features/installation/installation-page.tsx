/** Settings of the installation: accounts of all projects, the projects, and the targets of the present one. */
import { Page } from '../../ui/page';
import { AccountsPanel } from './accounts-panel';
import type { InstallationSearch } from './installation-search';
import { GrantedTargetsPanel, ProjectsPanel } from './projects-panel';

export interface InstallationPageProps {
  search: InstallationSearch;
  onSearch: (search: InstallationSearch) => void;
}

export function InstallationPage({ search, onSearch }: InstallationPageProps) {
  return (
    <Page
      title="Installation"
      about="For admins of the installation: everybody who can sign in, all projects, and which targets the present project may use."
    >
      <AccountsPanel search={search} onSearch={onSearch} />
      <ProjectsPanel />
      <GrantedTargetsPanel />
    </Page>
  );
}
