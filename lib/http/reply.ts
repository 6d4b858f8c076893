/** A handler's answer: the contract's body before it is serialised. Header names are lower case. */
export interface Reply<Body> {
  readonly status: number;
  readonly body: Body;
  readonly headers?: Readonly<Record<string, string>>;
}

export const reply = <Body>(
  status: number,
  body: Body,
  headers?: Readonly<Record<string, string>>,
): Reply<Body> => (headers === undefined ? { status, body } : { status, body, headers });

export const ok = <Body>(body: Body, headers?: Readonly<Record<string, string>>): Reply<Body> =>
  reply(200, body, headers);

export const created = <Body>(
  body: Body,
  headers?: Readonly<Record<string, string>>,
): Reply<Body> => reply(201, body, headers);

/** Status 202: the request is accepted but not finished. The caller follows the record. */
export const accepted = <Body>(
  body: Body,
  headers?: Readonly<Record<string, string>>,
): Reply<Body> => reply(202, body, headers);

/** An answer ready to be sent: the body is serialised JSON. */
export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

export const JSON_TYPE = "application/json; charset=utf-8";
