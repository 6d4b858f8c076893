import { createSiweMessage } from "viem/siwe";
import { expect, test } from "vitest";
import { testApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";

const listed = testAccount();
const api = await testApi({
  devnet: false,
  variables: { SIGN_UP: "allow-list", SIGN_UP_ALLOW: listed.address.toLowerCase() },
});

const signIn = async (account: typeof listed): Promise<Response> => {
  const { nonce, domain, uri } = await api.services.auth.createNonce();
  const { address } = account;
  const fields = {
    address,
    chainId: 31337,
    domain,
    nonce,
    uri,
    version: "1",
    issuedAt: new Date(),
  } as const;
  const message = createSiweMessage(fields);
  return api.fetch("/auth/token", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ message, signature: await account.signMessage({ message }) }),
  });
};

test("POST /auth/token answers 403 sign_up_closed to a stranger, without a trace of the person, and 200 to a listed one", async () => {
  const stranger = testAccount();
  const refused = await signIn(stranger);
  expect(refused.status).toBe(403);
  expect(await refused.json()).toMatchObject({
    code: "sign_up_closed",
    message:
      "This address has no account here, and sign-up is closed. Ask whoever runs this installation to let you in.",
  });
  const { prisma } = api.services.database;
  expect([
    await prisma.user.count(),
    await prisma.project.count(),
    await prisma.session.count(),
  ]).toEqual([0, 0, 0]);
  expect((await signIn(listed)).status).toBe(200);
  expect(await prisma.user.count()).toBe(1);
});
