/** Tests of the recipient check, run for each route that pays or stores an address. */
import { getAddress, type Address } from "viem";
import { describe, expect, test } from "vitest";
import type { Warning } from "@/lib/contracts/warnings";
import type { TestApi } from "./api";
import { changedChainsFile } from "./chains-file";
import { testDevnet } from "./devnet";
import { testAccount } from "./factories";
import { deployLookAlike } from "./freezable";
import { refusal, setCode } from "./payout-requests";

export const [ONE, TWO] = [31337, 31338];
/** A token of the first chain whose issuer freezes addresses. */
export const TOKEN = "FUSDC";
/**
 * Code of a contract that returns the number 6 for every call, like a token that is asked for its
 * decimals or its supply.
 */
const TOKEN_CODE = "0x60065f5260205ff3";
const PLAIN_CODE = "0x5f5ffd";

/** A route that takes an address. */
export interface RecipientRow {
  readonly route: string;
  readonly name?: string;
  readonly path: string;
  /** With `store` nothing is paid, so no warning about a first payment is expected. */
  readonly purpose: "pay" | "store";
  /**
   * Whether the request fails for a listed address, and for an address that the token's issuer has
   * frozen. Null when another test checks that.
   */
  readonly refuses: { readonly listed: boolean; readonly frozen: boolean | null };
  /** A wallet of the project. */
  readonly own: () => Address;
  readonly call: (address: Address) => Promise<{ readonly warnings: readonly Warning[] }>;
}

/** The local chains with a token whose issuer freezes addresses, and an oracle of sanctions. */
export const recipientWorld = async () => {
  const devnet = await testDevnet();
  const deployer = testAccount();
  await devnet.setCoins(deployer.address, "10");
  const urlOf = (chainId: number): string => devnet.rpcUrls[String(chainId)] ?? "";
  const at = { rpcUrl: urlOf(ONE), deployer };
  const token = await deployLookAlike(at, "CircleLike");
  const oracle = await deployLookAlike(at, "SanctionsList");
  const chainsFile = changedChainsFile((chain) => {
    if (chain.id !== ONE) return;
    const names = { symbol: TOKEN, name: TOKEN, assetId: TOKEN.toLowerCase() };
    chain.tokens.push({ ...names, address: token.address, decimals: 6, usdPegged: true });
    chain.contracts.sanctionsOracle = oracle.address;
  });
  const urls = Object.fromEntries(
    devnet.chains.map(({ id }) => [`RPC_URL_${String(id)}`, urlOf(id)]),
  );
  return { urlOf, token, oracle, variables: { CHAINS_FILE: chainsFile }, urls };
};

type World = Awaited<ReturnType<typeof recipientWorld>>;

const codesOf = async (row: RecipientRow, address: Address): Promise<string[]> => {
  const { warnings } = await row.call(address);
  for (const { path, message } of warnings) {
    expect(path).toBe(row.path);
    expect(message).toContain(address);
  }
  return warnings.map(({ code }) => code);
};
const firstOf = ({ purpose }: RecipientRow): string[] =>
  purpose === "pay" ? ["first_payment"] : [];
const twinOf = (address: Address): Address =>
  getAddress(
    `${address.slice(0, 6)}${testAccount().address.slice(6, 38)}${address.slice(-4)}`.toLowerCase(),
  );
const someone = (): Address => testAccount().address;

export const recipientCheckTests = (
  rows: readonly RecipientRow[],
  api: Pick<TestApi, "services">,
  { urlOf, token, oracle }: World,
): void =>
  describe.each(rows)("$route $name", (row) => {
    test("refuses addresses from which money does not come back, and names the field", async () => {
      const { entryPoint, multicall3, uniswapV3, across } =
        api.services.registry.get(ONE).contracts;
      const lost = [
        "0x0000000000000000000000000000000000000001" as const,
        token.address,
        entryPoint,
        multicall3,
        // The service knows these two contracts from the routing provider.
        uniswapV3?.swapRouter02,
        across?.spokePool,
      ];
      for (const address of lost) {
        if (address === undefined) throw new Error("The local chains have every contract.");
        const answer = await refusal(row.call(address));
        expect(answer, address).toMatchObject({
          status: 400,
          code: "invalid_request",
          details: [{ path: row.path }],
        });
      }
    });

    test("says when an address is new, looks like a known one, or is a token or a contract elsewhere", async () => {
      expect(await codesOf(row, someone())).toEqual(firstOf(row));
      expect(await codesOf(row, twinOf(row.own()))).toEqual([
        "lookalike_recipient",
        ...firstOf(row),
      ]);
      const [odd, away] = [someone(), someone()];
      await setCode(urlOf(ONE), odd, TOKEN_CODE);
      await setCode(urlOf(TWO), away, PLAIN_CODE);
      const isEverywhere = row.path.startsWith("recipients");
      expect(await codesOf(row, odd)).toEqual([
        "token_contract",
        ...(isEverywhere ? ["code_elsewhere"] : []),
        ...firstOf(row),
      ]);
      expect(await codesOf(row, away)).toEqual(["code_elsewhere", ...firstOf(row)]);
    });

    test("says or refuses what a screening source lists, and what the token's issuer has frozen", async () => {
      const [listed, frozen] = [someone(), someone()];
      await oracle.add(listed);
      if (row.refuses.listed)
        expect(await refusal(row.call(listed))).toMatchObject({ code: "screening_refused" });
      else expect(await codesOf(row, listed)).toEqual(["recipient_listed", ...firstOf(row)]);
      if (row.refuses.frozen === null) return;
      await token.add(frozen);
      if (row.refuses.frozen)
        expect(await refusal(row.call(frozen))).toMatchObject({ code: "recipient_frozen" });
      else expect(await codesOf(row, frozen)).toEqual(["recipient_frozen", ...firstOf(row)]);
    });
  });
