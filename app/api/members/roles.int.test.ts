import { beforeAll, expect, test } from "vitest";
import { contracts } from "@/lib/contracts/all";
import { getMe } from "@/lib/contracts/auth";
import type { Role } from "@/lib/core/actor";
import { newId } from "@/lib/core/ids";
import { testApi, type TestApi } from "@/lib/dev/testing/api";

let api: TestApi;
let projectId = "";
const people = new Map<Role, Readonly<Record<string, string>>>();

beforeAll(async () => {
  api = await testApi({ devnet: false });
  const owner = await api.signIn();
  projectId = (await owner.client.call(getMe)).projects[0]?.id ?? "";
  for (const role of ["admin", "operator", "viewer"] as const) {
    const { accessToken, client } = await api.signIn();
    const { id: userId } = await client.call(getMe);
    const { prisma } = api.services.database;
    await prisma.membership.create({
      data: { projectId, userId, role, createdAt: new Date() },
    });
    people.set(role, { authorization: `Bearer ${accessToken}`, "x-project-id": projectId });
  }
});

const statusOf = async (
  role: Role,
  method: string,
  path: string,
  body: object = {},
): Promise<number> => {
  const headers = { ...people.get(role), "content-type": "application/json" };
  const send = () =>
    api.fetch(path, {
      method,
      headers,
      ...(method === "GET" ? {} : { body: JSON.stringify(body) }),
    });
  let { status } = await send();
  // A membership counts within a second.
  for (let tries = 0; status === 404 && tries < 3; tries++) ({ status } = await send());
  return status;
};

/** It answers a question and changes nothing, so every role may ask it. */
const DRY_RUN = "/policies/evaluate";
const written = contracts.filter(
  ({ auth, method, path, personal }) =>
    auth !== "public" && method !== "GET" && !personal && path !== DRY_RUN,
);

test.each(written.map(({ method, path }) => [method, path] as const))(
  "a viewer is refused %s %s before anything of the request is looked at",
  async (method, path) => {
    await expect.poll(() => statusOf("viewer", "GET", "/members")).toBe(200);
    expect(await statusOf("viewer", method, path.replace(/\{[^}]+\}/g, "x"))).toBe(403);
  },
);

test.each([
  ["POST", "/auth/api-keys", { name: "x" }],
  ["PATCH", "/policies", { dailyCapUsd: "1" }],
  ["POST", "/webhook-endpoints", { url: "https://example.com", events: ["*"] }],
  ["GET", "/audit-log", {}],
  ["GET", "/audit-log/export", {}],
  ["GET", "/invitations", {}],
  ["POST", "/invitations", { email: "ada@example.test", role: "viewer" }],
  ["POST", `/members/${newId("user")}/removal`, {}],
  ["POST", `/privacy/wallets/${newId("privacyWallet")}/export`, {}],
] as const)("an operator is refused %s %s, and an admin is not", async (method, path, body) => {
  await expect.poll(() => statusOf("operator", "GET", "/members")).toBe(200);
  await expect.poll(() => statusOf("admin", "GET", "/members")).toBe(200);
  expect(await statusOf("operator", method, path, body)).toBe(403);
  expect(await statusOf("admin", method, path, body)).not.toBe(403);
});
