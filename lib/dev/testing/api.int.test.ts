import { createPublicClient, http } from "viem";
import { expect, test } from "vitest";
import { getMe } from "@/lib/contracts/auth";
import { listWallets } from "@/lib/contracts/wallets";
import { testApi } from "./api";
import { testDevnet } from "./devnet";

const api = await testApi();

test("a person of a test signs in, has a verified address and a key, and reaches the shared chains", async () => {
  const session = await api.signIn();
  const email = await api.verifiedEmail(session);
  const me = await session.client.call(getMe);
  expect(me).toMatchObject({ address: session.account.address, email, emailVerified: true });
  const key = await api.createKey(session);
  const { data } = await key.client.call(listWallets);
  expect(data.map(({ kind }) => kind)).toContain("treasury");
  const { rpcUrls } = await testDevnet();
  const ids = Object.entries(rpcUrls).map(async ([id, url]) => {
    expect(await createPublicClient({ transport: http(url) }).getChainId()).toBe(Number(id));
  });
  expect(await Promise.all(ids)).toHaveLength(3);
});

test("an unknown path comes back as the service answers it", async () => {
  const response = await api.fetch("/nowhere");
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({ code: "not_found" });
});
