/** /series/$seriesId */
import { getRouteApi } from '@tanstack/react-router';

import { SeriesPage } from '../../features/series/series-page';
import { compact } from '../../lib/search-values';

const route = getRouteApi('/app/series/$seriesId');

export function SeriesRoute() {
  const navigate = route.useNavigate();
  const { seriesId } = route.useParams();
  const search = compact(route.useSearch());
  return (
    <SeriesPage
      key={seriesId}
      seriesId={seriesId}
      search={search}
      onSearch={(next) => {
        // The back button returns to the previous window, but not to previously selected points.
        const replace = next.from === search.from && next.to === search.to;
        void navigate({ search: next, replace, resetScroll: false });
      }}
    />
  );
}
