/** Every operation of the OpenAPI document, called by every kind of caller. */
import { beforeAll, describe, expect, test, vi } from "vitest";
import { getMe } from "@/lib/contracts/auth";
import { namedContracts } from "@/lib/contracts/all";
import { revokeApiKey } from "@/lib/contracts/api-keys";
import { SCOPES, type Scope } from "@/lib/contracts/contract";
import { type Role, ROLES } from "@/lib/core/actor";
import { newId } from "@/lib/core/ids";
import { openApiDocument } from "@/lib/http/openapi";
import { testApi, type TestApi, type TestSession } from "@/lib/dev/testing/api";

interface Described {
  readonly operationId: string;
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly "x-scope"?: Scope | readonly Scope[];
  readonly "x-roles"?: readonly Role[];
}
interface Operation extends Described {
  readonly method: string;
  readonly path: string;
}
type Headers = Readonly<Record<string, string>>;
interface Answer {
  readonly status: number;
  readonly code: unknown;
  /** The body without the id of the request. */
  readonly text: string;
}

/**
 * Operations of owners and admins alone. Written by hand, so that a contract that forgets its
 * permission fails here.
 */
const ADMINS_ONLY = new Set(
  `createApiKey updateApiKey listApiKeyRequests rotateApiKey revokeApiKey setReportingCurrency updatePolicies putPolicy approveContact approveContacts unfreezeGlobalAccount decidePayoutDoubt updateSponsorBudget listAuditLog exportAuditLog
  listInvitations createInvitation withdrawInvitation updateMember updateProject exportPrivacyWallet releaseDeposit listParkedJobs resumeJob
  createWebhookEndpoint updateWebhookEndpoint deleteWebhookEndpoint rotateWebhookSecret testWebhookEndpoint replayWebhookEvents
  resendDelivery listNotificationChannels createNotificationChannel updateNotificationChannel deleteNotificationChannel testNotificationChannel`.split(
    /\s+/,
  ),
);
/**
 * Operations that any key may call: they show what the key itself is bounded by, or give test
 * money.
 */
const WITHOUT_SCOPE = new Set([
  "whoAmI",
  "getPolicies",
  "listPolicyVersions",
  "evaluatePolicies",
  "useFaucet",
]);
/**
 * Reads that every role may make, a viewer too. Written by hand, so that a read of secrets cannot
 * be open to all roles unseen.
 */
const OPEN_READS = new Set(
  `listAnnotations listApiKeys whoAmI getMe getReportingCurrency listCurrencyRates getBalanceHistory getUnifiedBalances streamChanges listContacts getContact listDecisions
  getDecision listDeposits getDeposit listDust streamDeposits readWebhookReceiver listEvents getFactors listGlobalAccounts getGlobalAccount listEntries
  getStatement exportStatement exportStatementCamt readProjectInbox listMembers getMemberRemoval listNotifications listPushSubscriptions getNotificationPreferences listOperations exportOperations listActivity exportActivity summarizeActivity getOperation
  streamOperationEvents listPasskeys listPayoutSchedules getPayoutSchedule listPayoutScheduleItems listPayouts getPayout listPayoutItems exportPayoutItems getPolicies
  listPolicyVersions getPolicyEvaluation listPrivacyWallets getPrivateBalances listPrivateExits listPrivateTransfers getPrivateTransfer
  listExports getExport downloadExport getReserves getReservesProof getReserveStatement exportReserveStatement exportReserveStatementCamt listSessions listMadeThings listTransfers getTransfer listWallets listLinkedWallets listDeliveries getDelivery
  listWebhookEndpoints getWebhookEndpoint`.split(/\s+/),
);
/**
 * Reads that are no GET. Written by hand, so that a route that writes cannot open itself to viewers
 * unseen.
 */
const READS_BY_POST = new Set(["evaluatePolicies"]);

/**
 * Operations that anybody may call. Written by hand, so that a contract cannot become public
 * unseen.
 */
const PUBLIC = new Set(
  `createNonce createToken refreshToken startPasskeySignIn signInByPasskey getJwks getOpenApi getErrorPage getHealth getReadiness getMetrics
  listChains listChainHeads listTokens receiveRoutingCallback receiveBundlerCallback receiveWebhook readInbox
  lookUpNotMe confirmNotMe`.split(/\s+/),
);

/**
 * Every role may leave the project by removeMember; other people are removed by these roles. The
 * path names nobody's own id here.
 */
const OF_OTHERS: Readonly<Record<string, readonly Role[]>> = {
  removeMember: ["owner", "admin"],
};

const { paths } = openApiDocument(namedContracts) as {
  paths: Record<string, Record<string, Described>>;
};
const operations: readonly Operation[] = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, described]) => ({
    ...described,
    method: method.toUpperCase(),
    path,
  })),
);
const allows = (operation: Operation, scheme: "apiKey" | "bearer"): boolean =>
  operation.security.some((one) => scheme in one);
const named = (some: readonly Operation[]) =>
  some.map((one) => [one.operationId, one] as const);
const closed = named(operations.filter((one) => allows(one, "bearer")));
const forKeys = named(operations.filter((one) => allows(one, "apiKey")));
const forPeopleOnly = named(
  operations.filter((one) => allows(one, "bearer") && !allows(one, "apiKey")),
);
const contractOf = new Map(
  namedContracts.map(({ operationId, contract }) => [operationId, contract]),
);

let api: TestApi;
let projectId = "";
let treasuryId = "";
let owner: TestSession;
const people = new Map<Role, Headers>();
const keysOf = new Map<string, string>();
const stale = {
  revoked: "",
  expired: "",
  otherProjects: "",
  otherKey: "",
  ended: "",
  expiredToken: "",
};

const tokenOf = ({ accessToken }: TestSession): Headers => ({
  authorization: `Bearer ${accessToken}`,
});

const ask = async ({ method, path }: Operation, headers: Headers): Promise<Answer> => {
  const response = await api.fetch(path.replace(/\{[^}]+\}/g, "x"), {
    method,
    headers: { ...headers, "content-type": "application/json" },
    ...(method === "GET" ? {} : { body: "{}" }),
  });
  if (!(response.headers.get("content-type") ?? "").includes("json")) {
    await response.body?.cancel();
    return { status: response.status, code: null, text: "" };
  }
  const text = (await response.text()).replace(/req_[0-9a-f-]{36}/g, "req");
  const { code } = JSON.parse(text) as { code?: unknown };
  return { status: response.status, code, text };
};

/** An access token of a live session, signed two hours ago. */
const expiredToken = async (): Promise<string> => {
  const { auth, clock } = api.services;
  const { sessionId } = await auth.verifyAccessToken((await api.signIn()).accessToken);
  const earlier = new Date(clock.now().getTime() - 2 * 3_600_000);
  const time = vi.spyOn(clock, "now").mockImplementation(() => earlier);
  try {
    return (await auth.accessTokenForSession(sessionId))?.accessToken ?? "";
  } finally {
    time.mockRestore();
  }
};

/** A new person with the role. */
const personAs = async (role: Role): Promise<Headers> => {
  const session = await api.signIn();
  const { id: userId } = await session.client.call(getMe);
  await api.services.database.prisma.membership.create({
    data: { projectId, userId, role, createdAt: new Date() },
  });
  api.services.projects.forget(userId);
  return { ...tokenOf(session), "x-project-id": projectId };
};

/** The person of a role, or a new one where the operation may end the person's sessions. */
const callerAs = async (role: Role, { path }: Operation): Promise<Headers> =>
  /^\/(auth\/logout|me\/sessions)/.test(path) ? personAs(role) : (people.get(role) ?? {});

const scopesOf = (operation: Operation): readonly Scope[] => {
  const scope = operation["x-scope"];
  return typeof scope === "string" ? [scope] : (scope ?? []);
};

/** A key with exactly these scopes. */
const keyWith = async (scopes: readonly Scope[]): Promise<Headers> => {
  const name = [...scopes].sort().join(" ");
  const known = keysOf.get(name);
  const secret = known ?? (await api.createKey(owner, { scopes: [...scopes] })).secret;
  keysOf.set(name, secret);
  return { "x-api-key": secret };
};

beforeAll(async () => {
  api = await testApi();
  owner = await api.signIn();
  projectId = (await owner.client.call(getMe)).projects[0]?.id ?? "";
  const { prisma } = api.services.database;
  treasuryId = (
    await prisma.wallet.findFirstOrThrow({ where: { projectId, kind: "treasury" } })
  ).id;
  for (const role of ROLES) people.set(role, await personAs(role));
  const [revoked, expired] = [await api.createKey(owner), await api.createKey(owner)];
  await owner.client.call(revokeApiKey, { params: { id: revoked.id } });
  await prisma.apiKey.update({ where: { id: expired.id }, data: { expiresAt: new Date(0) } });
  const stranger = await api.signIn();
  const ended = await api.signIn();
  await api.fetch("/auth/logout", { method: "POST", headers: tokenOf(ended) });
  Object.assign(stale, {
    revoked: revoked.secret,
    expired: expired.secret,
    otherProjects: stranger.accessToken,
    otherKey: (await api.createKey(stranger, { scopes: [...SCOPES] })).secret,
    ended: ended.accessToken,
    expiredToken: await expiredToken(),
  });
});

describe("each operation declares who may call it", () => {
  test.each(closed)("%s: its roles", (operationId, operation) => {
    const contract = contractOf.get(operationId);
    const isRead = operation.method === "GET" || READS_BY_POST.has(operationId);
    const writes = !isRead && contract?.personal !== true;
    expect(contract?.readsOnly === true).toBe(READS_BY_POST.has(operationId));
    const expected = ADMINS_ONLY.has(operationId)
      ? ["owner", "admin"]
      : ROLES.filter((r) => !writes || r !== "viewer");
    expect(operation["x-roles"], "Name a `permission` in the contract.").toEqual(expected);
  });

  test.each(forKeys)("%s: its scope", (operationId, operation) => {
    expect(scopesOf(operation).length > 0, "Name a `scope` in the contract.").toBe(
      !WITHOUT_SCOPE.has(operationId),
    );
  });

  test("the public ones are those of the list above", () => {
    const found = namedContracts.filter(({ contract }) => contract.auth === "public");
    expect(found.map(({ operationId }) => operationId).sort()).toEqual([...PUBLIC].sort());
  });

  test("the reads that every role may make are those of the list above", () => {
    const found = operations.filter(
      (one) =>
        one.method === "GET" &&
        allows(one, "bearer") &&
        one["x-roles"]?.length === ROLES.length,
    );
    expect(found.map(({ operationId }) => operationId).sort()).toEqual([...OPEN_READS].sort());
  });

  test("the lists above name operations of the document", () => {
    const ids = new Set(operations.map(({ operationId }) => operationId));
    expect(
      [...ADMINS_ONLY, ...WITHOUT_SCOPE, ...READS_BY_POST].filter((id) => !ids.has(id)),
    ).toEqual([]);
  });
});

describe("a request that proves nobody is refused", () => {
  test.each(closed)("%s", async (_id, operation) => {
    const secret = (await keyWith(SCOPES))["x-api-key"] ?? "";
    const token = people.get("owner")?.authorization ?? "";
    const wrong: Record<string, Headers> = {
      nothing: {},
      "wrong scheme": { authorization: `Basic ${btoa("ada:secret")}` },
      "a key as a token": { authorization: `Bearer ${secret}` },
      "a token as a key": { "x-api-key": token.replace("Bearer ", "") },
      both: { authorization: token, "x-api-key": secret },
      "an ended session": { authorization: `Bearer ${stale.ended}` },
      "an expired token": { authorization: `Bearer ${stale.expiredToken}` },
      "a revoked key": { "x-api-key": stale.revoked },
      "an expired key": { "x-api-key": stale.expired },
      "a changed key": {
        "x-api-key": `${secret.slice(0, -1)}${secret.endsWith("A") ? "B" : "A"}`,
      },
    };
    const statuses: Record<string, number> = {};
    for (const [name, headers] of Object.entries(wrong))
      statuses[name] = (await ask(operation, headers)).status;
    expect(statuses).toEqual(Object.fromEntries(Object.keys(wrong).map((name) => [name, 401])));
  });
});

test.each(closed)(
  "%s answers the token of another project's person as if the project did not exist",
  async (_id, one) => {
    const authorization = `Bearer ${stale.otherProjects}`;
    const foreign = await ask(one, { authorization, "x-project-id": projectId });
    expect(foreign).toEqual(
      await ask(one, { authorization, "x-project-id": newId("project") }),
    );
    expect(foreign.status).toBe(404);
  },
);

test.each(forKeys)(
  "%s stays in the project of an API key that names another project",
  async (_id, one) => {
    const own = { "x-api-key": stale.otherKey };
    const [plain, naming] = [
      await ask(one, own),
      await ask(one, { ...own, "x-project-id": projectId }),
    ];
    expect([naming.status, naming.code]).toEqual([plain.status, plain.code]);
    expect(naming.text).not.toContain(projectId);
    expect(naming.text).not.toContain(treasuryId);
  },
);

describe.each(ROLES)("as %s", (role) => {
  test.each(closed)("%s", async (operationId, operation) => {
    const { status, code } = await ask(operation, await callerAs(role, operation));
    expect(status).toBeLessThan(500);
    const roles = OF_OTHERS[operationId] ?? operation["x-roles"] ?? [];
    if (roles.includes(role)) expect([401, 403], String(code)).not.toContain(status);
    else expect({ status, code }).toEqual({ status: 403, code: "forbidden" });
  });
});

test.each(forPeopleOnly)("%s refuses a key with every scope", async (_id, operation) => {
  expect(await ask(operation, await keyWith(SCOPES))).toMatchObject({
    status: 403,
    code: "forbidden",
  });
});

test.each(forKeys)("%s needs its scope, and no other", async (operationId, operation) => {
  const needed = scopesOf(operation);
  for (const scope of needed)
    expect([401, 403]).not.toContain((await ask(operation, await keyWith([scope]))).status);
  if (WITHOUT_SCOPE.has(operationId)) return;
  const others = SCOPES.filter((scope) => !needed.includes(scope));
  expect(await ask(operation, await keyWith(others))).toMatchObject({
    status: 403,
    code: "insufficient_scope",
  });
});
