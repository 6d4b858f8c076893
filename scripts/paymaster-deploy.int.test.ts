import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { parseEther, type Address } from "viem";
import { entryPoint07Abi } from "viem/account-abstraction";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, expect, test } from "vitest";
import { markedPaymasterAbi } from "@/lib/chain/erc4337/marked-paymaster";
import { creationCode } from "@/lib/dev/devnet/artifacts";
import { startBareAnvil, type BareAnvil } from "@/lib/dev/testing/bare-anvil";
import { entryFile } from "@/lib/dev/testing/entry";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "causeway-paymaster-"));
const started: BareAnvil[] = [];
afterAll(async () => {
  await Promise.all(started.map((anvil) => anvil.stop()));
  rmSync(folder, { recursive: true });
});
const key = generatePrivateKey();
const executor = privateKeyToAccount(key).address;
const OWNER: Address = "0x00000000000000000000000000000000000000AB";
const FUNDER: Address = "0x00000000000000000000000000000000000000A1";

/**
 * Starts a chain with EntryPoint and a funded executor, and writes the chains file that names it.
 */
const startChain = async (chainId: number, args: readonly string[] = []) => {
  const anvil = await startBareAnvil(chainId, args);
  started.push(anvil);
  const { client, config } = anvil;
  await client.impersonateAccount({ address: FUNDER });
  for (const address of [FUNDER, executor])
    await client.setBalance({ address, value: parseEther("10") });
  const data = creationCode("entryPoint");
  const hash = await client.sendUnsignedTransaction({ from: FUNDER, data, gas: 8_000_000n });
  const { contractAddress } = await client.waitForTransactionReceipt({
    hash,
    pollingInterval: 20,
  });
  if (!contractAddress) throw new Error("EntryPoint was not deployed.");
  const file = join(folder, `${String(chainId)}.json`);
  const chain = { ...config, contracts: { ...config.contracts, entryPoint: contractAddress } };
  writeFileSync(file, JSON.stringify({ chains: [chain] }));
  return { anvil, entryPoint: contractAddress, file };
};

const deploy = (
  file: string,
  args: readonly string[],
  variables: Record<string, string> = {},
) =>
  run(process.execPath, [entryFile("causeway"), "paymaster:deploy", ...args], {
    env: {
      ...process.env,
      CHAINS_FILE: file,
      EXECUTOR_PRIVATE_KEY: `dev_${key}`,
      ...variables,
    },
  });

const read = <N extends "owner" | "entryPoint">(
  { client }: BareAnvil,
  address: Address,
  functionName: N,
) => client.readContract({ address, abi: markedPaymasterAbi, functionName });

test("the script puts a staked paymaster with a deposit on the chain, and prints its address", async () => {
  const { anvil, entryPoint, file } = await startChain(41_348);
  const amounts = ["--stake", "0.25", "--deposit", "1.5"];
  const { stdout } = await deploy(file, ["--chain", "41348", "--owner", OWNER, ...amounts]);
  const address = /"paymaster": "(0x[0-9a-fA-F]{40})"/.exec(stdout)?.[1] as Address;
  expect(await read(anvil, address, "owner")).toBe(OWNER);
  expect((await read(anvil, address, "entryPoint")).toLowerCase()).toBe(entryPoint);
  const isMarker = { address, abi: markedPaymasterAbi, functionName: "isMarker" } as const;
  expect(await anvil.client.readContract({ ...isMarker, args: [executor] })).toBe(true);
  expect(await anvil.client.readContract({ ...isMarker, args: [OWNER] })).toBe(false);
  const info = await anvil.client.readContract({
    address: entryPoint,
    abi: entryPoint07Abi,
    functionName: "getDepositInfo",
    args: [address],
  });
  expect(info).toMatchObject({
    deposit: parseEther("1.5"),
    staked: true,
    stake: parseEther("0.25"),
  });
});

test("the script names what is missing, and sends nothing then", async () => {
  const { anvil, file } = await startChain(41_349, ["--hardfork", "shanghai"]);
  const args = ["--chain", "41349"];
  await expect(deploy(file, args)).rejects.toThrow(
    "does not have transient storage (EIP-1153)",
  );
  await expect(deploy(file, ["--chain", "1"])).rejects.toThrow(
    "Name a chain of CHAINS_FILE with --chain: 41349",
  );
  await expect(deploy(file, args, { EXECUTOR_PRIVATE_KEY: "" })).rejects.toThrow(
    "EXECUTOR_PRIVATE_KEY is needed",
  );
  expect(await anvil.client.getTransactionCount({ address: executor })).toBe(0);
});
