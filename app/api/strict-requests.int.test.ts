/** Every operation of the OpenAPI document refuses names that it does not know. */
import { beforeAll, describe, expect, test } from "vitest";
import { namedContracts, type NamedContract } from "@/lib/contracts/all";
import { EXAMPLES } from "@/lib/http/openapi-errors";
import { testApi, type TestApi, type TestSession } from "@/lib/dev/testing/api";
import { objectsIn, withValueAt } from "@/lib/dev/testing/request-places";

/** Their callers are other services, which may send whatever they like. */
const OPEN = new Set(["receiveRoutingCallback", "receiveBundlerCallback", "receiveWebhook"]);
const EXTRA = "fieldOfNobody";
/** Objects that browsers make, and to which later ones may add members. */
const OF_BROWSERS = new Set([
  "credential",
  "credential.response",
  "passkey",
  "passkey.response",
]);

interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly details: readonly {
    readonly path: string;
    readonly message: string;
    readonly code?: string;
  }[];
}

let api: TestApi;
let owner: TestSession;

beforeAll(async () => {
  api = await testApi();
  owner = await api.signIn();
});

const pathOf = (path: string): string =>
  path
    .replace("{code}", "internal_error")
    .replace("{address}", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
    .replace(/\{[^}]+\}/g, "x");

const send = async (
  method: string,
  path: string,
  body?: unknown,
): Promise<{ readonly status: number; readonly refusal: Refusal }> => {
  const response = await api.fetch(path, {
    method,
    headers: {
      authorization: `Bearer ${owner.accessToken}`,
      "content-type": "application/json",
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, refusal: (await response.json()) as Refusal };
};

const named = (which: (one: NamedContract) => boolean) =>
  namedContracts
    .filter((one) => !OPEN.has(one.operationId) && which(one))
    .map((one) => [one.operationId, one] as const);

const requestOf = (operationId: string): unknown => EXAMPLES[operationId]?.request ?? {};

/** Each object of the request's example, its own first: where a further field can stand. */
const nestedIn = (operationId: string): readonly (readonly (string | number)[])[] =>
  objectsIn(requestOf(operationId)).filter(
    (path) => path.length > 0 && !OF_BROWSERS.has(path.join(".")),
  );

describe("every operation refuses", () => {
  test.each(named(({ contract }) => contract.method !== "GET"))(
    "a further field: %s",
    async (_, one) => {
      const { method, path } = one.contract;
      const body = withValueAt(requestOf(one.operationId), [EXTRA], true);
      const { status, refusal } = await send(method, pathOf(path), body);
      expect([status, refusal.code]).toEqual([400, "unknown_parameter"]);
      expect(refusal.details[0]).toMatchObject({ path: EXTRA, code: "unknown_parameter" });
      expect(refusal.message).toContain(EXTRA);
    },
  );

  test.each(named(({ operationId }) => nestedIn(operationId).length > 0))(
    "a further field in each object within its body: %s",
    async (_, { operationId, contract }) => {
      for (const place of nestedIn(operationId)) {
        const body = withValueAt(requestOf(operationId), [...place, EXTRA], "x");
        const { status, refusal } = await send(contract.method, pathOf(contract.path), body);
        expect([status, refusal.code, refusal.details[0]?.path]).toEqual([
          400,
          "unknown_parameter",
          [...place, EXTRA].join("."),
        ]);
      }
    },
  );

  test.each(named(() => true))(
    "a further query parameter: %s",
    async (_, { operationId, contract }) => {
      const body = contract.body === undefined ? undefined : requestOf(operationId);
      const { status, refusal } = await send(
        contract.method,
        `${pathOf(contract.path)}?${EXTRA}=1`,
        body,
      );
      expect([status, refusal.code, refusal.details[0]?.path]).toEqual([
        400,
        "unknown_parameter",
        EXTRA,
      ]);
    },
  );
});

test("each nested object of the examples is tried somewhere", () => {
  expect(
    namedContracts.filter(({ operationId }) => nestedIn(operationId).length > 0).length,
  ).toBeGreaterThan(10);
});

describe("names that people mistype are answered with the right one", () => {
  const transfers = [
    { address: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", amount: "1", token: "USDC" },
  ];

  test.each([
    [
      "POST",
      "/payouts/bulk/wallets",
      { chainId: 31337, transfers, validate_only: true },
      ["validate_only", "validateOnly"],
    ],
    [
      "POST",
      "/payouts/bulk/wallets",
      { chainId: 31337, transfers: [{ ...transfers[0], refrence: "1" }] },
      ["transfers.0.refrence", "reference"],
    ],
    ["POST", "/auth/api-keys", { name: "x", recipents: [] }, ["recipents", "recipients"]],
    ["POST", "/auth/api-keys", { name: "x", scope: ["transfers:read"] }, ["scope", "scopes"]],
    ["POST", "/auth/api-keys", { name: "x", dailyCapUSD: "1" }, ["dailyCapUSD", "dailyCapUsd"]],
    ["POST", "/auth/api-keys", { name: "x", network: ["10.0.0.0/8"] }, ["network", "networks"]],
    [
      "POST",
      "/auth/api-keys",
      { name: "x", expiresat: "2030-01-01T00:00:00Z" },
      ["expiresat", "expiresAt"],
    ],
    [
      "POST",
      "/swap-and-transfer",
      { ...(requestOf("swapAndTransfer") as object), minAmout: "1" },
      ["minAmout", "minAmount"],
    ],
    ["GET", "/operations?statuss=failed", undefined, ["statuss", "status"]],
  ] as const)("%s %s", async (method, path, body, [wrong, right]) => {
    const { status, refusal } = await send(method, path, body);
    expect([status, refusal.code]).toEqual([400, "unknown_parameter"]);
    expect(refusal.message).toContain(wrong);
    expect(refusal.details.find((one) => one.path === wrong)?.message).toContain(
      `did you mean \`${right}\`?`,
    );
  });

  test("all of a key's mistyped fields are named at once, and no key is made", async () => {
    const body = { recipents: [], scope: [], dailyCapUSD: "1", network: [], expiresat: "" };
    const { refusal } = await send("POST", "/auth/api-keys", body);
    const unknown = refusal.details
      .filter(({ code }) => code === "unknown_parameter")
      .map(({ path }) => path);
    expect(unknown).toEqual(["recipents", "scope", "dailyCapUSD", "network", "expiresat"]);
    const keys = await send("GET", "/auth/api-keys");
    expect(keys.refusal).toMatchObject({ data: [] });
  });
});

test.each([
  ["GET", "/operations?limit=1&limit=2", "limit"],
  ["GET", "/operations?status=failed&status=completed", "status"],
])("a parameter that comes twice is refused: %s %s", async (method, path, name) => {
  const { status, refusal } = await send(method, path);
  expect([status, refusal.code]).toEqual([400, "invalid_request"]);
  expect(refusal.details).toMatchObject([{ path: name, code: "repeated_parameter" }]);
});

test("an operation without a body takes none, or an empty object", async () => {
  for (const body of [undefined, {}]) {
    const { status } = await send("POST", "/payouts/po_none/cancel", body);
    expect(status).toBe(404);
  }
});

test("callbacks of other services are taken with any fields and any query", async () => {
  const { status, refusal } = await send("POST", "/webhooks/routing?attempt=2", {
    [EXTRA]: { deep: [1] },
  });
  expect([status, refusal]).toEqual([200, { received: true }]);
});
