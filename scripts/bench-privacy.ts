/** `npx tsx scripts/bench-privacy.ts`: what private balances cost, as a table. A benchmark, not a test. */
import { execFileSync } from "node:child_process";
import {
  encodeAbiParameters,
  encodeFunctionData,
  encodePacked,
  keccak256,
  parseUnits,
  type Address,
  type Hex,
} from "viem";
import {
  changeSecrets,
  commitmentOf,
  depositSecrets,
  masterKeysOf,
  precommitmentOf,
} from "../lib/adapters/privacy-pools/keys";
import { createWalletKeys, readNotes } from "../lib/adapters/privacy-pools/notes";
import type { Groth16Proof } from "../lib/adapters/privacy-pools/proof-job";
import { createProver } from "../lib/adapters/privacy-pools/prover";
import { entrypointAbi, privacyPoolAbi, relayData } from "../lib/chains/privacy-pools";
import { exitParameters, privacyProcessorAbi, processorOrder } from "../lib/chains/privacy-processor";
import { devAddress } from "../lib/devnet/accounts";
import { deposited, fakePoolChain } from "../lib/testing/fake-pool-chain";
import { contextOf, startPrivacyChain, type Note } from "../lib/testing/privacy-chain";

const MNEMONIC = "legal winner thank year wave sausage worth useful legal winner thank yellow";
const DEPOSITS = 10_000;
const PER_BLOCK = 100;
const FAR_FUTURE = 4_102_444_800n;
const PROOF_TIMEOUT_MS = 120_000;
const KILOBYTES_PER_MEGABYTE = 1024;

const timed = async <T>(work: () => Promise<T>): Promise<[T, number]> => {
  const start = performance.now();
  const result = await work();
  return [result, Math.round(performance.now() - start)];
};

const rows: { figure: string; value: string }[] = [];
const note = (figure: string, value: string): void => void rows.push({ figure, value });

const benchScan = async (): Promise<void> => {
  const chain = fakePoolChain();
  for (let block = 0; block < DEPOSITS / PER_BLOCK; block += 1)
    chain.add(
      Array.from({ length: PER_BLOCK }, (_, index) => BigInt(block * PER_BLOCK + index + 1)).flatMap((at) =>
        deposited(1n, at, at + 10n ** 9n, at + 10n ** 12n),
      ),
    );
  const keys = createWalletKeys(MNEMONIC);
  const read = async () => readNotes(keys, 77n, await chain.read());
  note("Scan of 10,000 deposits, without the node's time", `${String((await timed(read))[1])} ms`);
  chain.add(deposited(1n, 1n, 1n, 1n));
  note("Scan of one more block", `${String((await timed(read))[1])} ms`);
};

const forContract = ({ pubSignals, ...points }: Groth16Proof) => ({ ...points, pubSignals: pubSignals as never });

/** The largest process below this one: the one that proves. */
const proverMegabytes = (): string => {
  const lines = execFileSync("ps", ["-o", "rss=", "--ppid", String(process.pid)], { encoding: "utf8" });
  const largest = Math.max(...lines.trim().split("\n").map(Number));
  return `${String(Math.round(largest / KILOBYTES_PER_MEGABYTE))} MB`;
};

const benchChain = async (): Promise<void> => {
  const chain = await startPrivacyChain(31_994);
  const prover = createProver();
  try {
    await benchOperations(chain, prover);
  } finally {
    prover.stop();
    await chain.stop();
  }
};

const benchOperations = async (
  chain: Awaited<ReturnType<typeof startPrivacyChain>>,
  prover: ReturnType<typeof createProver>,
) => {
  const keys = masterKeysOf(MNEMONIC);
  const { privacy, usdc, dai, swapRouter02: router, weth: wrapped } = chain.contracts;
  const relayer = devAddress("relayer");
  const [scope, scopeDai] = await Promise.all([chain.scopeOf(privacy.pools.usdc), chain.scopeOf(privacy.pools.dai)]);
  const amount = parseUnits("100", 6);
  const made = await chain.shield(keys, {
    pool: privacy.pools.usdc,
    token: usdc,
    amount: parseUnits("1000", 6),
    index: 0n,
  });
  note("Gas of a shield (without its approval)", made.receipt.gasUsed.toString());
  await chain.approve(await chain.labelsOf());
  let own: Note = made.note;
  let index = 0n;
  const spend = async (
    name: string,
    withdrawal: { processooor: Address; data: Hex },
    call: (proof: Groth16Proof) => Hex,
  ) => {
    const change = changeSecrets(keys, own.label, index);
    const leaves = await chain.leavesOf(privacy.pools.usdc);
    const [proof, ms] = await timed(() =>
      prover.prove(
        {
          circuit: "withdraw",
          ...own,
          withdrawn: amount,
          context: contextOf(withdrawal, scope),
          newNullifier: change.nullifier,
          newSecret: change.secret,
          state: { key: "state", leaves },
          association: { key: "labels", leaves: chain.approved() },
        },
        AbortSignal.timeout(PROOF_TIMEOUT_MS),
      ),
    );
    note(`Proof of a withdrawal (${name})`, `${String(ms)} ms`);
    const receipt = await chain.send(relayer, withdrawal.processooor, call(proof));
    note(`Gas: ${name}`, receipt.status === "success" ? receipt.gasUsed.toString() : "reverted");
    const value = own.value - amount;
    own = { ...own, ...change, value, commitment: commitmentOf(value, own.label, change) };
    index += 1n;
    return receipt;
  };
  const paying = encodeAbiParameters(relayData, [
    { recipient: devAddress("faucet"), feeRecipient: relayer, relayFeeBPS: 0n },
  ]);
  const relay = { processooor: privacy.entrypoint, data: paying };
  const relayCall = (proof: Groth16Proof): Hex =>
    encodeFunctionData({ abi: entrypointAbi, functionName: "relay", args: [relay, forContract(proof), scope] });
  await spend("transfer to an address, the prover starts", relay, relayCall);
  await spend("transfer to an address", relay, relayCall);
  note("Memory of the proving process", proverMegabytes());
  const order = (assetOut: Address, path: Hex, precommitment: bigint) => ({
    processooor: privacy.processor,
    data: encodeAbiParameters(processorOrder, [
      {
        ...{ entrypoint: privacy.entrypoint, router, wrapped, assetOut, path, minimumOut: 0n, precommitment },
        ...{ feeRecipient: relayer, fee: 0n, deadline: FAR_FUTURE },
        exitHash: keccak256(encodeAbiParameters(exitParameters, [relayer, keccak256("0x01")])),
      },
    ]),
  });
  const run =
    (withdrawal: { processooor: Address; data: Hex }) =>
    (proof: Groth16Proof): Hex =>
      encodeFunctionData({
        abi: privacyProcessorAbi,
        functionName: "run",
        args: [privacy.pools.usdc, withdrawal, forContract(proof)],
      });
  const inPool = order(usdc, "0x", precommitmentOf(depositSecrets(keys, scope, 7n)));
  await spend("transfer inside of the pool", inPool, run(inPool));
  const path = encodePacked(["address", "uint24", "address"], [usdc, 100, dai]);
  const swap = order(dai, path, precommitmentOf(depositSecrets(keys, scopeDai, 0n)));
  await spend("private swap", swap, run(swap));
  const declined = await chain.shield(keys, {
    pool: privacy.pools.dai,
    token: dai,
    amount: parseUnits("5", 18),
    index: 5n,
  });
  const [exit, ms] = await timed(() =>
    prover.prove({ circuit: "commitment", ...declined.note }, AbortSignal.timeout(PROOF_TIMEOUT_MS)),
  );
  note("Proof of a public exit", `${String(ms)} ms`);
  const ragequit = encodeFunctionData({ abi: privacyPoolAbi, functionName: "ragequit", args: [forContract(exit)] });
  note("Gas: public exit", (await chain.send(devAddress("deployer"), privacy.pools.dai, ragequit)).gasUsed.toString());
};

await benchScan();
await benchChain();
console.table(rows);
