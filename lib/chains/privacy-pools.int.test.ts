import { afterAll, beforeAll, expect, inject, test, vi } from "vitest";
import {
  decodeErrorResult,
  encodeAbiParameters,
  encodeFunctionData,
  encodePacked,
  erc20Abi,
  keccak256,
  parseUnits,
  zeroHash,
  type Address,
  type Hex,
} from "viem";
import {
  changeSecrets,
  commitmentOf,
  depositSecrets,
  masterKeysOf,
  precommitmentOf,
} from "@/lib/adapters/privacy-pools/keys";
import type { Groth16Proof } from "@/lib/adapters/privacy-pools/proof-job";
import { createProver } from "@/lib/adapters/privacy-pools/prover";
import { devAddress } from "@/lib/devnet/accounts";
import { contextOf, startPrivacyChain, type Note } from "@/lib/testing/privacy-chain";
import { entrypointAbi, privacyPoolAbi, relayData } from "./privacy-pools";
import { exitParameters, privacyProcessorAbi, processorOrder } from "./privacy-processor";

// Real contracts, real proofs, and nothing of the service but its keys and its prover.
type Chain = Awaited<ReturnType<typeof startPrivacyChain>>;
type Withdrawal = { processooor: Address; data: Hex };

const keys = masterKeysOf("legal winner thank year wave sausage worth useful legal winner thank yellow");
const prover = createProver({ niceness: 0 });
// A proof takes seconds of all cores, and other files want them too.
vi.setConfig({ testTimeout: 240_000 });
const USDC = (amount: string): bigint => parseUnits(amount, 6);
const RECIPIENT: Address = "0x00000000000000000000000000000000DeaDBeef";
const THIEF: Address = "0x00000000000000000000000000000000000000ee";
const FAR_FUTURE = 4_102_444_800n;

let chain: Chain;
let relayer: Address;
let privacy: Chain["contracts"]["privacy"];
let note: Note;

beforeAll(async () => {
  chain = await startPrivacyChain(31_993);
  ({ privacy } = chain.contracts);
  relayer = devAddress("relayer");
  const { pools } = privacy;
  ({ note } = await chain.shield(keys, {
    pool: pools.usdc,
    token: chain.contracts.usdc,
    amount: USDC("1000"),
    index: 0n,
  }));
  await chain.approve(await chain.labelsOf());
});

afterAll(async () => {
  prover.stop();
  await chain.stop();
});

/** Proves that so much of a note leaves, bound to this withdrawal, and says what is left of the note. */
const prove = async (
  of: Note,
  withdrawn: bigint,
  withdrawal: Withdrawal,
  { index, pool = privacy.pools.usdc }: { index: bigint; pool?: Address },
) => {
  const labels = chain.approved();
  const [leaves, scope] = await Promise.all([chain.leavesOf(pool), chain.scopeOf(pool)]);
  const change = changeSecrets(keys, of.label, index);
  const proof = await prover.prove(
    {
      circuit: "withdraw",
      ...of,
      withdrawn,
      context: contextOf(withdrawal, scope),
      newNullifier: change.nullifier,
      newSecret: change.secret,
      state: { key: pool, leaves },
      association: { key: "labels", leaves: labels },
    },
    AbortSignal.timeout(60_000),
  );
  const value = of.value - withdrawn;
  return { proof, change: { ...of, ...change, value, commitment: commitmentOf(value, of.label, change) } };
};

const forContract = ({ pubSignals, ...points }: Groth16Proof) => ({ ...points, pubSignals: pubSignals as never });

const relayCall = (withdrawal: Withdrawal, proof: Groth16Proof, scope: bigint): Hex =>
  encodeFunctionData({ abi: entrypointAbi, functionName: "relay", args: [withdrawal, forContract(proof), scope] });

const runCall = (withdrawal: Withdrawal, proof: Groth16Proof): Hex =>
  encodeFunctionData({
    abi: privacyProcessorAbi,
    functionName: "run",
    args: [privacy.pools.usdc, withdrawal, forContract(proof)],
  });

const paying = (recipient: Address, relayFeeBPS = 0n): Withdrawal => ({
  processooor: privacy.entrypoint,
  data: encodeAbiParameters(relayData, [{ recipient, feeRecipient: relayer, relayFeeBPS }]),
});

const exitHash = (salt: Hex): Hex => keccak256(encodeAbiParameters(exitParameters, [RECIPIENT, salt]));
const SALT = keccak256("0x01");

type OrderParts = { precommitment: bigint; path?: Hex; assetOut?: Address; minimumOut?: bigint; fee?: bigint };
const ordering = ({
  precommitment,
  path = "0x",
  assetOut = chain.contracts.usdc,
  minimumOut = 0n,
  fee = 0n,
}: OrderParts): Withdrawal => ({
  processooor: privacy.processor,
  data: encodeAbiParameters(processorOrder, [
    {
      entrypoint: privacy.entrypoint,
      router: chain.contracts.swapRouter02,
      wrapped: chain.contracts.weth,
      assetOut,
      path,
      minimumOut,
      precommitment,
      exitHash: exitHash(SALT),
      feeRecipient: relayer,
      fee,
      deadline: FAR_FUTURE,
    },
  ]),
});

const errors = [...entrypointAbi, ...privacyPoolAbi, ...privacyProcessorAbi];

const refused = async (to: Address, data: Hex, error: string): Promise<void> => {
  const revert = await chain.revertOf(relayer, to, data);
  expect(revert === null ? "accepted" : decodeErrorResult({ abi: errors, data: revert }).errorName).toBe(error);
};

const balance = (token: Address, owner: Address): Promise<bigint> =>
  chain.client.readContract({ address: token, abi: erc20Abi, functionName: "balanceOf", args: [owner] });

test("a relayed withdrawal pays exactly whom its proof names, once, and only under the latest association set", async () => {
  const scope = await chain.scopeOf(privacy.pools.usdc);
  const withdrawal = paying(RECIPIENT);
  const { proof, change } = await prove(note, USDC("30"), withdrawal, { index: 0n });
  const call = relayCall(withdrawal, proof, scope);
  // Somebody else's address in the place of the recipient's.
  await refused(privacy.entrypoint, relayCall(paying(THIEF), proof, scope), "ContextMismatch");
  // The pool of another asset.
  await refused(
    privacy.entrypoint,
    relayCall(withdrawal, proof, await chain.scopeOf(privacy.pools.dai)),
    "ContextMismatch",
  );
  await refused(privacy.entrypoint, relayCall(withdrawal, proof, 1n), "PoolNotFound");
  // A relayer's fee above the pool's bound.
  await refused(privacy.entrypoint, relayCall(paying(RECIPIENT, 101n), proof, scope), "RelayFeeGreaterThanMax");
  const signals = (index: number, value: bigint): Groth16Proof => ({
    ...proof,
    pubSignals: proof.pubSignals.map((signal, at) => (at === index ? value : signal)),
  });
  await refused(privacy.entrypoint, relayCall(withdrawal, signals(2, USDC("31")), scope), "InvalidProof");
  // The same nullifier written as another number of the same remainder.
  const again =
    (proof.pubSignals[1] ?? 0n) + 21888242871839275222246405745257275088548364400416034343698204186575808495617n;
  await refused(privacy.entrypoint, relayCall(withdrawal, signals(1, again), scope), "InvalidProof");
  await refused(privacy.entrypoint, relayCall(withdrawal, signals(3, 1n), scope), "UnknownStateRoot");
  // The set moved on since the proof was made, and comes back.
  await chain.approve([1n, 2n]);
  await refused(privacy.entrypoint, call, "IncorrectASPRoot");
  await chain.approve(await chain.labelsOf());
  const receipt = await chain.send(relayer, privacy.entrypoint, call);
  expect(receipt.status).toBe("success");
  expect(await balance(chain.contracts.usdc, RECIPIENT)).toBe(USDC("30"));
  await refused(privacy.entrypoint, call, "NullifierAlreadySpent");
  note = change;
});

const swapPath = (): Hex =>
  encodePacked(["address", "uint24", "address"], [chain.contracts.usdc, 100, chain.contracts.dai]);

test("a private swap takes one note and makes another in one transaction, at the minimum of its proof or not at all", async () => {
  const secrets = depositSecrets(keys, await chain.scopeOf(privacy.pools.dai), 0n);
  const order = {
    precommitment: precommitmentOf(secrets),
    path: swapPath(),
    assetOut: chain.contracts.dai,
    fee: USDC("1"),
  };
  const withdrawal = ordering({ ...order, minimumOut: parseUnits("98", 18) });
  const { proof, change } = await prove(note, USDC("100"), withdrawal, { index: 1n });
  await refused(privacy.processor, runCall(ordering({ ...order, minimumOut: 1n }), proof), "ContextMismatch");
  await refused(
    privacy.processor,
    runCall(ordering({ ...order, minimumOut: parseUnits("98", 18), fee: USDC("2") }), proof),
    "ContextMismatch",
  );
  const receipt = await chain.send(relayer, privacy.processor, runCall(withdrawal, proof));
  expect(receipt.status).toBe("success");
  note = change;
  const swapped = chain.noteIn(receipt.logs, privacy.pools.dai, secrets);
  expect(swapped.value).toBeGreaterThan(parseUnits("97.9", 18));
  expect(await balance(chain.contracts.usdc, privacy.processor)).toBe(0n);
  expect(await balance(chain.contracts.dai, privacy.processor)).toBe(0n);
  // Its public exit, before anybody approved it: to the owner whom the order named by hash, and to nobody else.
  const exit = await prover.prove({ circuit: "commitment", ...swapped }, AbortSignal.timeout(60_000));
  const exitCall = (owner: Address, salt: Hex): Hex =>
    encodeFunctionData({
      abi: privacyProcessorAbi,
      functionName: "exit",
      args: [privacy.pools.dai, forContract(exit), owner, salt],
    });
  await refused(privacy.processor, exitCall(THIEF, SALT), "OnlyExitOwner");
  await refused(privacy.processor, exitCall(RECIPIENT, zeroHash), "OnlyExitOwner");
  const ragequit = encodeFunctionData({ abi: privacyPoolAbi, functionName: "ragequit", args: [forContract(exit)] });
  await refused(privacy.pools.dai, ragequit, "OnlyOriginalDepositor");
  expect((await chain.send(relayer, privacy.processor, exitCall(RECIPIENT, SALT))).status).toBe("success");
  expect(await balance(chain.contracts.dai, RECIPIENT)).toBe(swapped.value);
  await refused(privacy.processor, exitCall(RECIPIENT, SALT), "NullifierAlreadySpent");
});

// Each takes a proof of its own; `npm test` shows the guarantees with the two above.
if (inject("isLong")) {
  test("an order that brings less than its minimum takes nothing, and a fee above the bound is refused", async () => {
    const precommitment = precommitmentOf(depositSecrets(keys, await chain.scopeOf(privacy.pools.usdc), 9n));
    const poor = ordering({ precommitment, minimumOut: USDC("100") + 1n });
    const { proof } = await prove(note, USDC("100"), poor, { index: 2n });
    await refused(privacy.processor, runCall(poor, proof), "BelowMinimum");
    await refused(privacy.processor, runCall(ordering({ precommitment, fee: USDC("5") + 1n }), proof), "FeeAboveBound");
  });

  test("a transfer between private wallets moves a note inside of the pool, and its new owner spends it", async () => {
    const theirs = masterKeysOf("zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo wrong");
    const scope = await chain.scopeOf(privacy.pools.usdc);
    const secrets = depositSecrets(theirs, scope, 0n);
    const withdrawal = ordering({ precommitment: precommitmentOf(secrets) });
    const { proof, change } = await prove(note, USDC("100"), withdrawal, { index: 2n });
    const receipt = await chain.send(relayer, privacy.processor, runCall(withdrawal, proof));
    expect(receipt.status).toBe("success");
    note = change;
    // The pool keeps its fee of a deposit: 0.1 %.
    expect(chain.noteIn(receipt.logs as never, privacy.pools.usdc, secrets).value).toBe(USDC("99.9"));
  });

  test("whoever deposited takes an unapproved note out by the public exit, and nobody else does", async () => {
    const { pools } = privacy;
    const { note: own } = await chain.shield(keys, {
      pool: pools.dai,
      token: chain.contracts.dai,
      amount: parseUnits("5", 18),
      index: 5n,
    });
    const proof = await prover.prove({ circuit: "commitment", ...own }, AbortSignal.timeout(60_000));
    const call = encodeFunctionData({ abi: privacyPoolAbi, functionName: "ragequit", args: [forContract(proof)] });
    await refused(pools.dai, call, "OnlyOriginalDepositor");
    expect((await chain.send(devAddress("deployer"), pools.dai, call)).status).toBe("success");
  });
}
