import { QueryClient } from '@tanstack/react-query';
import { http, HttpResponse } from 'msw';

import { simulatedPhone } from '../testing/fixtures-targets';
import { server } from '../testing/server';
import { simulatedTargetsQuery, targetsQuery } from './targets';

describe('the simulated targets', () => {
  it('are all known, however many pages they fill', async () => {
    server.use(
      http.get('*/api/v1/targets', ({ request }) => {
        const query = new URL(request.url).searchParams;
        expect([query.get('simulated'), query.get('fields')]).toEqual([
          'true',
          'names',
        ]);
        const more = query.get('cursor') === 'more';
        const item = {
          ...simulatedPhone(),
          id: more ? 'target-201' : 'target-1',
        };
        return HttpResponse.json({ items: [item], next: more ? null : 'more' });
      }),
    );
    const targets = await new QueryClient().fetchQuery(simulatedTargetsQuery);
    expect([...targets]).toEqual(['target-1', 'target-201']);
  });
});

describe('a list to choose from', () => {
  it('asks for no payloads', async () => {
    const cursors: (string | null)[] = [];
    server.use(
      http.get('*/api/v1/targets', ({ request }) => {
        cursors.push(new URL(request.url).searchParams.get('fields'));
        return HttpResponse.json({ items: [], next: null });
      }),
    );
    await new QueryClient().fetchQuery(targetsQuery);
    expect(cursors).toEqual(['names']);
  });
});
