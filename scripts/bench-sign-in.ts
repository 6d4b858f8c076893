import type { Address } from "viem";
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";
import { createSiweMessage } from "viem/siwe";
import { createApiClient, type ApiClient } from "../lib/api-client/client";
import { createNonce, createToken } from "../lib/contracts/auth";
import { listWallets } from "../lib/contracts/wallets";

interface SignedIn {
  readonly account: PrivateKeyAccount;
  readonly client: ApiClient;
  readonly treasury: Address;
}

/** A new person with a project of their own, signed in at the service that a benchmark measures. */
export const signInAnew = async (url: string, chainId: number): Promise<SignedIn> => {
  const account = privateKeyToAccount(generatePrivateKey());
  const baseUrl = `${url}/api`;
  const anybody = createApiClient({ baseUrl });
  const { nonce, domain, uri, statement } = await anybody.call(createNonce, { body: {} });
  const { address } = account;
  const issuedAt = new Date();
  const message = createSiweMessage({ address, chainId, domain, nonce, statement, uri, version: "1", issuedAt });
  const signature = await account.signMessage({ message });
  const { accessToken } = await anybody.call(createToken, { body: { message, signature } });
  const client = createApiClient({ baseUrl, headers: () => ({ authorization: `Bearer ${accessToken}` }) });
  const { data } = await client.call(listWallets, {});
  const treasury = data.find(({ kind }) => kind === "treasury")?.address;
  if (treasury === undefined) throw new Error("There is no treasury.");
  return { account, client, treasury };
};
