import { expect, type APIRequestContext } from "@playwright/test";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { createSiweMessage } from "viem/siwe";

/**
 * Gives the cookies of `request` the session of somebody new, as the sign-in page does. For journeys that need no wallet in the
 * browser; the cookies of `page.request` are those of the page.
 */
export const signIn = async (request: APIRequestContext): Promise<void> => {
  const account = privateKeyToAccount(generatePrivateKey());
  const { address } = account;
  const nonce = await request.post("/api/auth/nonce", { data: { address } });
  const given = (await nonce.json()) as { nonce: string; domain: string; uri: string };
  const message = createSiweMessage({ ...given, address, chainId: 31337, version: "1" });
  const signature = await account.signMessage({ message });
  const { csrfToken } = (await (await request.get("/api/auth/csrf")).json()) as { csrfToken: string };
  const form = { message, signature, csrfToken, json: "true" };
  // A browser writes it by itself; without it the service takes no change that comes with a cookie.
  const headers = { origin: new URL(given.uri).origin };
  expect((await request.post("/api/auth/callback/credentials", { form, headers })).status()).toBe(200);
};
