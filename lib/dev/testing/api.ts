import { createSiweMessage } from "viem/siwe";
import { privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";
import { expect, inject, vi } from "vitest";
import { createApiClient, type ApiClient } from "@/lib/api-client/client";
import type { Services } from "@/lib/composition";
import type { createApiKey } from "@/lib/contracts/api-keys";
import type { BodyInput } from "@/lib/contracts/contract";
import { createNonce, createToken, verifyEmail } from "@/lib/contracts/auth";
import { readInbox } from "@/lib/contracts/dev";
import { createRouteTable } from "@/lib/http/route-table";
import { routes } from "@/lib/routes.gen";
import { approvedKey, sendEmailCode } from "./approve";
import { recordCall } from "./call-recorder";
import { undeclaredError } from "./declared-errors";
import { undeclaredHeader } from "./declared-headers";
import { recordError } from "./error-recorder";
import { testEmail, testKey } from "./factories";
import { testServices, type TestServicesOptions } from "./services";

export interface TestSession {
  readonly account: PrivateKeyAccount;
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Calls as this person. */
  readonly client: ApiClient;
}

export interface TestApiKey {
  readonly id: string;
  readonly secret: string;
  /** Calls with this key. */
  readonly client: ApiClient;
}

type KeyInput = Partial<BodyInput<typeof createApiKey>>;

export interface TestApi {
  readonly services: Services;
  /**
   * One request inside this process, without a port. `path` begins after `/api` and includes the
   * query. Returns every answer unchanged.
   */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Returns a typed client that sends these headers with each call. The client throws ApiError. */
  client(headers?: Readonly<Record<string, string>>): ApiClient;
  /**
   * Signs in with EIP-4361, as a new person unless a key is given.
   * @param invitation the token of a mailed invitation
   */
  signIn(privateKey?: `0x${string}`, invitation?: string): Promise<TestSession>;
  /** Creates a key. Signs with the person's wallet if an approval is needed. */
  createKey(session: TestSession, input?: KeyInput): Promise<TestApiKey>;
  /** Gives the person a verified address, to which one-time codes are sent. @returns the address */
  verifiedEmail(session: TestSession, email?: string): Promise<string>;
  /** Waits for the newest code mailed to the address. Ignores the codes in `except`. */
  readCode(to: string, except?: readonly string[]): Promise<string>;
}

const ORIGIN = "http://localhost:3000";
const BASE_URL = `${ORIGIN}/api`;
const CODE_TIMEOUT_MS = 30_000;

const find = createRouteTable(routes);

/**
 * Dispatches a request like `server.ts`, through the Web form of the same handlers. The current
 * test fails when the OpenAPI document does not list the answer's error or header for the
 * operation.
 */
const dispatch = async (request: Request): Promise<Response> => {
  const { pathname } = new URL(request.url);
  const match = find(pathname);
  const handler = match?.entry.module[request.method as "GET"];
  if (!match || !handler)
    throw new Error(`No route answers ${request.method} ${pathname}; the fast server would.`);
  const unread = inject("recordsExamples") ? request.clone() : null;
  const answer = await handler(request, { params: Promise.resolve(match.params) });
  if (unread !== null) {
    await recordError(answer);
    await recordCall(handler.contract, unread, answer);
  }
  const fault = await undeclaredError(handler.contract, answer);
  // A soft assertion does not throw here, because a test may expect the call to fail, or may
  // repeat it until it succeeds.
  if (fault !== null)
    expect.soft(fault, "Add the code to `errors` of the contract.").toBeNull();
  const header = undeclaredHeader(handler.contract, answer);
  if (header !== null)
    expect.soft(header, "Name the header in lib/http/openapi-schemas.ts.").toBeNull();
  return answer;
};

const fetchInProcess: typeof fetch = (input, init) => dispatch(new Request(input, init));

const clientWith = (headers: Readonly<Record<string, string>> = {}): ApiClient =>
  createApiClient({ baseUrl: BASE_URL, headers: () => headers, fetch: fetchInProcess });

type ClientWith = (headers?: Readonly<Record<string, string>>) => ApiClient;

interface SignInInput {
  readonly chainId: number;
  readonly privateKey: `0x${string}`;
  readonly invitation?: string | undefined;
}

const signIn = async (
  clientOf: ClientWith,
  { chainId, privateKey, invitation }: SignInInput,
): Promise<TestSession> => {
  const account = privateKeyToAccount(privateKey);
  const anybody = clientOf();
  const { nonce, domain, uri, statement } = await anybody.call(createNonce, {
    body: { address: account.address },
  });
  const message = createSiweMessage({
    address: account.address,
    chainId,
    domain,
    nonce,
    statement,
    uri,
    version: "1",
    issuedAt: new Date(),
  });
  const signature = await account.signMessage({ message });
  const { accessToken, refreshToken } = await anybody.call(createToken, {
    body: { message, signature, ...(invitation === undefined ? {} : { invitation }) },
  });
  return {
    account,
    accessToken,
    refreshToken,
    client: clientOf({ authorization: `Bearer ${accessToken}` }),
  };
};

const readCode = (to: string, except: readonly string[] = []): Promise<string> =>
  vi.waitFor(
    async () => {
      const { data } = await clientWith().call(readInbox, { query: { to, limit: 20 } });
      const code = data
        .map((mail) => mail.code)
        .find((one) => one !== undefined && !except.includes(one));
      if (code === undefined) throw new Error(`No code was mailed to ${to}.`);
      return code;
    },
    { timeout: CODE_TIMEOUT_MS },
  );

/**
 * Returns the API over `testServices`, which tests call inside this process. Call this function
 * once at the top of the file.
 */
export const testApi = async (options: TestServicesOptions = {}): Promise<TestApi> => {
  const services = await testServices(options);
  const chainId = services.registry.list()[0]?.id ?? 1;
  return {
    services,
    fetch: (path, init) => fetchInProcess(`${BASE_URL}${path}`, init),
    client: clientWith,
    signIn: (privateKey = testKey(), invitation) =>
      signIn(clientWith, { chainId, privateKey, invitation }),
    createKey: async (session, input = {}) => {
      const { id, secret } = await approvedKey(session.account, session.client, {
        name: "test",
        ...input,
      });
      return { id, secret, client: clientWith({ "x-api-key": secret }) };
    },
    verifiedEmail: async (session, email = testEmail()) => {
      await sendEmailCode(session.account, session.client, email);
      await session.client.call(verifyEmail, { body: { code: await readCode(email) } });
      return email;
    },
    readCode,
  };
};

/**
 * Returns the calls of `TestApi` for another process over HTTP. The process uses the database of
 * `api` and has its secrets.
 * @param baseUrl URL of the process, including `/api`
 */
export const remoteApi = (
  api: TestApi,
  baseUrl: string,
  send: typeof fetch = fetch,
): TestApi => {
  const chainId = api.services.registry.list()[0]?.id ?? 1;
  const client: ClientWith = (headers = {}) =>
    createApiClient({ baseUrl, headers: () => headers, fetch: send });
  return {
    ...api,
    client,
    fetch: (path, init) => send(`${baseUrl}${path}`, init),
    signIn: (privateKey = testKey(), invitation) =>
      signIn(client, { chainId, privateKey, invitation }),
    createKey: async (session, input = {}) => {
      const { id, secret } = await approvedKey(session.account, session.client, {
        name: "test",
        ...input,
      });
      return { id, secret, client: client({ "x-api-key": secret }) };
    },
  };
};
