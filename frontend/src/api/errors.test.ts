import { http, HttpResponse } from 'msw';

import { server } from '../testing/server';
import { client, unwrap } from './client';
import { isApiError, type ApiError } from './errors';

async function failure(): Promise<ApiError> {
  const error: unknown = await unwrap(client.GET('/api/v1/session', {})).catch(
    (thrown: unknown) => thrown,
  );
  if (!isApiError(error)) throw new Error(`not an ApiError: ${String(error)}`);
  return error;
}

describe('a failed request', () => {
  it('carries code, detail and fields of problem+json', async () => {
    const body = {
      type: 'about:blank',
      title: 'Invalid',
      status: 422,
      code: 'invalid_request',
      detail: 'rounds must be at least 1.',
      fields: { rounds: 'too small' },
    };
    server.use(
      http.get('*/api/v1/session', () =>
        HttpResponse.json(body, {
          status: 422,
          headers: { 'Content-Type': 'application/problem+json' },
        }),
      ),
    );
    const error = await failure();
    expect(error).toMatchObject({
      status: 422,
      code: 'invalid_request',
      message: 'rounds must be at least 1.',
    });
    expect(error.fields).toEqual({ rounds: 'too small' });
  });

  it('says so when the answer is of another shape', async () => {
    server.use(
      http.get(
        '*/api/v1/session',
        () => new HttpResponse('<h1>Bad gateway</h1>', { status: 502 }),
      ),
    );
    expect(await failure()).toMatchObject({
      status: 502,
      code: 'not_a_problem',
    });
  });

  it('says so when no answer came', async () => {
    server.use(http.get('*/api/v1/session', () => HttpResponse.error()));
    expect(await failure()).toMatchObject({ status: 0, code: 'network' });
  });
});
