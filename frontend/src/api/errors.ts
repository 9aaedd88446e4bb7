/**
 * One error type for every failed request. `code` is the literal of problem+json; three codes are ours:
 * `network` (no answer), `not_a_problem` (an answer of another shape) and `stream_lost`.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly fields: Readonly<Record<string, string>>;

  constructor(problem: {
    status: number;
    code: string;
    title: string;
    detail: string;
    fields?: unknown;
  }) {
    super(problem.detail);
    this.status = problem.status;
    this.code = problem.code;
    this.title = problem.title;
    this.fields = isStringRecord(problem.fields) ? problem.fields : {};
  }
}

function isStringRecord(value: unknown): value is Record<string, string> {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).every((v) => typeof v === 'string')
  );
}

/**
 * Makes an error of a failed response; a body that is not problem+json becomes `not_a_problem` with the
 * status.
 */
export function toApiError(status: number, body: unknown): ApiError {
  if (
    typeof body === 'object' &&
    body !== null &&
    'code' in body &&
    typeof body.code === 'string'
  ) {
    const problem = body as {
      code: string;
      title?: unknown;
      detail?: unknown;
      fields?: unknown;
    };
    const title =
      typeof problem.title === 'string' ? problem.title : 'Request refused';
    const detail = typeof problem.detail === 'string' ? problem.detail : title;
    return new ApiError({
      status,
      code: problem.code,
      title,
      detail,
      fields: problem.fields,
    });
  }
  return new ApiError({
    status,
    code: 'not_a_problem',
    title: `The server answered ${status}`,
    detail:
      'The answer cannot be read. A proxy may have changed it, or the server is restarting.',
  });
}

export function networkError(cause: unknown): ApiError {
  const error = new ApiError({
    status: 0,
    code: 'network',
    title: 'Cannot reach the server',
    detail:
      'No response. Check that the server is running and that you are online.',
  });
  error.cause = cause;
  return error;
}

export function isApiError(error: unknown): error is ApiError {
  return error instanceof ApiError;
}
