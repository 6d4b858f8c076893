import type { Page } from "@playwright/test";
import {
  createPublicClient,
  createTestClient,
  erc20Abi,
  formatUnits,
  http,
  parseUnits,
  walletActions,
  type Address,
} from "viem";

interface TokenRow {
  symbol: string;
  chainId: number;
  address: string;
  decimals: number;
}

const tokenOf = async (page: Page, chainId: number, symbol: string): Promise<TokenRow> => {
  const { data } = (await (
    await page.request.get("/api/tokens", { params: { chainId } })
  ).json()) as {
    data: TokenRow[];
  };
  const token = data.find((row) => row.symbol === symbol);
  if (!token) throw new Error(`There is no ${symbol} on ${String(chainId)}.`);
  return token;
};

const transportOf = (chainId: number) => http(process.env[`E2E_RPC_URL_${String(chainId)}`]);

/** Reads a balance directly from the chain, without any code of the app. */
export const balanceOnChain = async (
  page: Page,
  chainId: number,
  symbol: string,
  owner: string,
): Promise<string> => {
  const token = await tokenOf(page, chainId, symbol);
  const client = createPublicClient({ transport: transportOf(chainId) });
  const balance = await client.readContract({
    address: token.address as Address,
    abi: erc20Abi,
    functionName: "balanceOf",
    args: [owner as Address],
  });
  return formatUnits(balance, token.decimals);
};

/** Takes money out of a wallet on the chain, without the service and without the wallet's key. */
export const takeOnChain = async (
  page: Page,
  chainId: number,
  { symbol, amount, from, to }: Record<"symbol" | "amount" | "from" | "to", string>,
): Promise<void> => {
  const token = await tokenOf(page, chainId, symbol);
  const client = createTestClient({ mode: "anvil", transport: transportOf(chainId) }).extend(
    walletActions,
  );
  const account = from as Address;
  await client.impersonateAccount({ address: account });
  await client.setBalance({ address: account, value: parseUnits("1", 18) });
  await client.writeContract({
    account,
    chain: null,
    address: token.address as Address,
    abi: erc20Abi,
    functionName: "transfer",
    args: [to as Address, parseUnits(amount, token.decimals)],
  });
  await client.stopImpersonatingAccount({ address: account });
};
