import type { Page } from "@playwright/test";
import { createPublicClient, erc20Abi, formatUnits, http, type Address } from "viem";

interface TokenRow {
  symbol: string;
  chainId: number;
  address: string;
  decimals: number;
}

/** Reads a balance directly from the chain, without any code of the app. */
export const balanceOnChain = async (
  page: Page,
  chainId: number,
  symbol: string,
  owner: string,
): Promise<string> => {
  const { data } = (await (
    await page.request.get("/api/tokens", { params: { chainId } })
  ).json()) as {
    data: TokenRow[];
  };
  const token = data.find((row) => row.symbol === symbol);
  if (!token) throw new Error(`There is no ${symbol} on ${String(chainId)}.`);
  const client = createPublicClient({
    transport: http(process.env[`E2E_RPC_URL_${String(chainId)}`]),
  });
  const balance = await client.readContract({
    address: token.address as Address,
    abi: erc20Abi,
    functionName: "balanceOf",
    args: [owner as Address],
  });
  return formatUnits(balance, token.decimals);
};
