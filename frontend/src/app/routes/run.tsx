/** /runs/$runId */
import { getRouteApi } from '@tanstack/react-router';

import { RunPage } from '../../features/runs/run-page';

const route = getRouteApi('/app/runs/$runId');

export function RunRoute() {
  const navigate = route.useNavigate();
  const { runId } = route.useParams();
  const { job } = route.useSearch();
  return (
    <RunPage
      key={runId}
      runId={runId}
      jobId={job}
      onJob={(next) => void navigate({ search: { job: next }, replace: true })}
    />
  );
}
