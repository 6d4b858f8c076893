import {
  createPublicClient,
  createWalletClient,
  defineChain,
  formatEther,
  hexToBigInt,
  hexToString,
  http,
  isAddress,
  isHex,
  numberToHex,
  ProviderRpcError,
  type Chain,
  type Hex,
} from "viem";
import { privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";
import { parseSiweMessage } from "viem/siwe";
import { z } from "zod";
import type { PublicChain } from "@/lib/http/public-config";
import { askPerson } from "./confirm-store";
import { addBurnerKey, isBurnerConnected, readBurnerKeys, setBurnerConnected } from "./key";

/** The part of EIP-1193 that wagmi and viem use. */
export interface BurnerProvider {
  request(call: { method: string; params?: unknown }): Promise<unknown>;
  chainId(): number;
}

const USER_REJECTED = 4001;
const UNAUTHORIZED = 4100;
const UNKNOWN_CHAIN = 4902;
const RPC_TIMEOUT_MS = 10_000;

const hex = z.string().refine((text): text is Hex => isHex(text));
const address = z.string().refine((text): text is Hex => isAddress(text, { strict: false }));
const transactionParams = z.tuple([
  z.object({
    from: address.optional(),
    to: address.optional(),
    data: hex.optional(),
    value: hex.optional(),
    gas: hex.optional(),
  }),
]);
const typedData = z.object({
  domain: z.record(z.string(), z.unknown()).default({}),
  types: z.record(z.string(), z.array(z.object({ name: z.string(), type: z.string() }))),
  primaryType: z.string(),
  message: z.record(z.string(), z.unknown()),
});

const rejected = (): ProviderRpcError =>
  new ProviderRpcError(new Error("rejected"), {
    code: USER_REJECTED,
    shortMessage: "You rejected the request.",
  });

const confirmed = async (request: Parameters<typeof askPerson>[0]): Promise<void> => {
  if (!(await askPerson(request))) throw rejected();
};

const signMessage = async (account: PrivateKeyAccount, data: Hex): Promise<Hex> => {
  const text = hexToString(data);
  // The sign-in page already shows the complete message and asks the person to sign it. A second
  // question would train people to click without reading.
  const shownByPage = parseSiweMessage(text).domain === window.location.host;
  if (!shownByPage)
    await confirmed({ title: "Sign a message", account: account.address, chainId: null, text });
  return account.signMessage({ message: { raw: data } });
};

const signTypedData = async (account: PrivateKeyAccount, json: string): Promise<Hex> => {
  const data = typedData.parse(JSON.parse(json));
  const text = JSON.stringify(
    { domain: data.domain, [data.primaryType]: data.message },
    null,
    2,
  );
  const chainId = Number(data.domain.chainId) || null;
  await confirmed({ title: "Sign typed data", account: account.address, chainId, text });
  return account.signTypedData(data);
};

type SendParams = z.output<typeof transactionParams>[0];

const sendTransaction = async (
  account: PrivateKeyAccount,
  chain: Chain,
  params: SendParams,
): Promise<Hex> => {
  const { to, data, value, gas } = params;
  const amount = value === undefined ? 0n : hexToBigInt(value);
  await confirmed({
    title: "Send a transaction",
    account: account.address,
    chainId: chain.id,
    text: `To: ${to ?? "a new contract"}\nValue: ${formatEther(amount)} ${chain.nativeCurrency.symbol}\nData: ${data ?? "none"}`,
  });
  const client = createWalletClient({
    account,
    chain,
    transport: http(undefined, { timeout: RPC_TIMEOUT_MS }),
  });
  return client.sendTransaction({
    value: amount,
    ...(to === undefined ? {} : { to }),
    ...(data === undefined ? {} : { data }),
    ...(gas === undefined ? {} : { gas: hexToBigInt(gas) }),
  });
};

const toChain = (chain: PublicChain): Chain =>
  defineChain({
    id: chain.id,
    name: chain.name,
    nativeCurrency: chain.nativeCurrency,
    rpcUrls: { default: { http: chain.rpcUrl === null ? [] : [chain.rpcUrl] } },
  });

const allAccounts = (): readonly [PrivateKeyAccount, ...PrivateKeyAccount[]] => {
  const [first, ...more] = readBurnerKeys();
  return [privateKeyToAccount(first), ...more.map((key) => privateKeyToAccount(key))];
};

const addresses = (): Hex[] => allAccounts().map((account) => account.address);

/**
 * The account that a request names, or the first account when it names none.
 * @throws ProviderRpcError (4100) when the wallet does not have the account
 */
const accountOf = (named: unknown): PrivateKeyAccount => {
  const all = allAccounts();
  if (named === undefined) return all[0];
  const wanted = address.parse(named).toLowerCase();
  const found = all.find((account) => account.address.toLowerCase() === wanted);
  if (found !== undefined) return found;
  throw new ProviderRpcError(new Error(wanted), {
    code: UNAUTHORIZED,
    shortMessage: "The burner wallet does not have this account.",
  });
};

/**
 * `wallet_requestPermissions` (EIP-2255). The wallet already exposes all its accounts, so this
 * request creates another one.
 */
const addAccount = (): { parentCapability: string }[] => {
  setBurnerConnected(true);
  addBurnerKey();
  return [{ parentCapability: "eth_accounts" }];
};

/**
 * A wallet inside the page that stores its keys in this browser. It forwards requests that need no
 * key to the chain's RPC.
 */
export const createBurnerProvider = (publicChains: readonly PublicChain[]): BurnerProvider => {
  const chains = new Map(publicChains.map((chain) => [chain.id, toChain(chain)]));
  const [first] = chains.values();
  if (first === undefined) throw new Error("The burner wallet needs a chain.");
  let chain = first;
  const param = (params: unknown, index: number): unknown =>
    Array.isArray(params) ? (params as unknown[])[index] : undefined;

  const request = async ({
    method,
    params,
  }: {
    method: string;
    params?: unknown;
  }): Promise<unknown> => {
    switch (method) {
      case "eth_requestAccounts":
        setBurnerConnected(true);
        return addresses();
      case "eth_accounts":
        return isBurnerConnected() ? addresses() : [];
      case "wallet_requestPermissions":
        return addAccount();
      case "eth_chainId":
        return numberToHex(chain.id);
      case "wallet_switchEthereumChain": {
        const { chainId } = z.object({ chainId: hex }).parse(param(params, 0));
        const next = chains.get(Number(chainId));
        if (next === undefined) {
          throw new ProviderRpcError(new Error(chainId), {
            code: UNKNOWN_CHAIN,
            shortMessage: "This chain is not configured.",
          });
        }
        chain = next;
        return null;
      }
      case "personal_sign":
        return signMessage(accountOf(param(params, 1)), hex.parse(param(params, 0)));
      case "eth_signTypedData_v4":
        return signTypedData(accountOf(param(params, 0)), z.string().parse(param(params, 1)));
      case "eth_sendTransaction": {
        const [sent] = transactionParams.parse(params);
        return sendTransaction(accountOf(sent.from), chain, sent);
      }
      default: {
        const client = createPublicClient({
          chain,
          transport: http(undefined, { timeout: RPC_TIMEOUT_MS }),
        });
        return client.request({ method, params } as never);
      }
    }
  };
  return { request, chainId: () => chain.id };
};
