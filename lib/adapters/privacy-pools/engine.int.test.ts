import {
  decodeAbiParameters,
  decodeErrorResult,
  decodeFunctionData,
  encodeAbiParameters,
  encodeFunctionData,
  parseUnits,
  zeroHash,
  type Address,
  type Hex,
} from "viem";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import {
  entrypointAbi,
  privacyPoolAbi,
  privacyProcessorAbi,
  processorOrder,
  relayData,
} from "@/lib/chain/privacy-pools";
import { devAddress } from "@/lib/dev/devnet/accounts";
import { createAssociationChain } from "@/lib/dev/devnet/association/chain";
import { serveAssociationSets } from "@/lib/dev/devnet/association/server";
import type { Spend } from "@/lib/money/ports/privacy";
import type { Call } from "@/lib/core/evm";
import { startPrivacyChain } from "@/lib/dev/testing/privacy-chain";
import {
  privacyEngineContract,
  type PrivacyEngineHarness,
} from "@/lib/dev/testing/privacy-engine-contract";
import { recoverWithSdk } from "@/lib/dev/testing/sdk-recovery";
import { createAssociationSource } from "./chain-pools";
import { createProver } from "./prover";

// Real contracts and real proofs. A proof occupies all cores for seconds, and other test files need
// them too.
vi.setConfig({ testTimeout: 240_000 });

type Chain = Awaited<ReturnType<typeof startPrivacyChain>>;

const CHAIN = 31_993;
const HOUR_MS = 3_600_000;
const SCALARS = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;
const THIEF: Address = "0x00000000000000000000000000000000000000ee";
const prover = createProver();
let chain: Chain;
let harness: PrivacyEngineHarness;

/** A transaction that a contract test had mined, with a snapshot of the chain just before it. */
interface Mined {
  readonly call: Call;
  readonly before: Hex;
}
const relayed: Mined[] = [];
const sent: Mined[] = [];
/** Mnemonics of the wallets of the contract tests; the first one deposits. */
const mnemonics: string[] = [];

beforeAll(async () => {
  chain = await startPrivacyChain(CHAIN);
  harness = chain.harness(prover);
});

afterAll(async () => {
  prover.stop();
  await chain.stop();
});

privacyEngineContract("privacy pools", () =>
  Promise.resolve({
    ...harness,
    engine: {
      ...harness.engine,
      newMnemonic: () => {
        const mnemonic = harness.engine.newMnemonic();
        mnemonics.push(mnemonic);
        return mnemonic;
      },
    },
    relay: async (transaction) => {
      relayed.push({
        call: { ...transaction, value: 0n },
        before: await chain.client.snapshot(),
      });
      return harness.relay(transaction);
    },
    send: async (calls) => {
      for (const call of calls) {
        sent.push({ call, before: await chain.client.snapshot() });
        await harness.send([call]);
      }
    },
  }),
);

test("a transfer inside of the pool gives another wallet all but the fee, and one below its minimum takes nothing", async () => {
  const { engine, chainId, token } = harness;
  const { signal } = new AbortController();
  const walletOf = (id: string) => ({ id, mnemonic: engine.newMnemonic() });
  const [wallet, other] = [walletOf("long one"), walletOf("long other")];
  const amountBase = parseUnits("200", 6);
  const { calls } = await engine.shield({
    chainId,
    token,
    amountBase,
    slot: { wallet, index: 0 },
  });
  // The relayer makes the deposit, because since an earlier test the chain declines the deposits of
  // the owner.
  for (const call of calls) await chain.send(chain.relayer, call);
  await harness.approveDeposits();
  const [note] = (await engine.holdings(wallet, chainId, signal)).notes;
  const withdrawBase = parseUnits("100", 6);
  const spend: Spend = {
    chainId,
    token,
    wallet,
    noteId: note?.id ?? "",
    withdrawBase,
    to: "note",
    tokenOut: token,
    path: null,
    minimumOutBase: withdrawBase + 1n,
    exitOwner: chain.owner,
    deadline: new Date(Date.now() + HOUR_MS),
    slot: { wallet: other, index: 0 },
  };
  const poor = await engine.prove(spend, signal);
  expect(await engine.check(chainId, poor)).toEqual({ refusal: "refused" });
  await refused(poor.to, poor.data, "BelowMinimum");
  const inside = await engine.prove({ ...spend, minimumOutBase: withdrawBase }, signal);
  const { status } = await chain.send(chain.relayer, { ...inside, value: 0n });
  expect(status).toBe("success");
  // The pool keeps its fee of a deposit: 0.1 %.
  expect((await engine.holdings(other, chainId, signal)).notes).toMatchObject([
    { valueBase: parseUnits("99.9", 6) },
  ]);
  expect((await engine.holdings(wallet, chainId, signal)).notes).toMatchObject([
    { valueBase: parseUnits("99.8", 6) },
  ]);
  // The note inside of the pool is a deposit too. Later tests count the deposits that are not in
  // the set.
  await harness.approveDeposits();
});

test("the SDK's own recovery finds the same notes by mnemonic and chain alone", async () => {
  const { engine, chainId } = harness;
  const [mnemonic = ""] = mnemonics;
  const { notes } = await engine.holdings(
    { id: "any", mnemonic },
    chainId,
    new AbortController().signal,
  );
  expect(notes).toHaveLength(1);
  const address = chain.contracts.privacy.pools.usdc;
  const scope = String(
    await chain.client.readContract({ address, abi: privacyPoolAbi, functionName: "SCOPE" }),
  );
  const pool = { address, scope, startBlock: 0 };
  const recovered = await recoverWithSdk({ mnemonic, chainId, rpcUrl: chain.url, pool });
  expect(recovered).toEqual(notes.map(({ id, valueBase }) => ({ id, valueBase })));
});

test("the files of the circuits are read once, however many proofs are made", () => {
  const files = ["wasm", "zkey", "vkey"].length * ["commitment", "withdraw"].length;
  expect(prover.artifactsRead()).toBe(files);
});

const labelsOf = async (pool: Address): Promise<bigint[]> => {
  const wanted = {
    address: pool,
    abi: privacyPoolAbi,
    eventName: "Deposited",
    fromBlock: 0n,
  } as const;
  const logs = await chain.client.getContractEvents(wanted);
  return logs.map(({ args }) => args._label ?? 0n);
};

test("a provider of association sets that starts later serves the same set, remembers who is declined, and publishes nothing", async () => {
  const { engine, chainId, token } = harness;
  const { signal } = new AbortController();
  const { privacy } = chain.contracts;
  const postman = { address: devAddress("postman") };
  const before = await chain.client.getTransactionCount(postman);
  // The provider's own delay would not have approved any deposit yet.
  const later = createAssociationChain({ rpcUrl: chain.url, privacy, delayMs: HOUR_MS });
  await later.advance();
  const server = await serveAssociationSets(new Map([[String(chainId), later]]), 0);
  try {
    const scope = await chain.scopeOf(privacy.pools.usdc);
    const [ours, theirs] = [
      createAssociationSource(chain.associationUrl),
      createAssociationSource(server.url),
    ];
    const set = await ours.read(chainId, scope, signal);
    expect(set?.labels.length).toBeGreaterThanOrEqual(2);
    expect(set?.onchainRoot).toBe(set?.root);
    expect(await theirs.read(chainId, scope, signal)).toEqual(set);
    const labels = await labelsOf(privacy.pools.usdc);
    const declined = labels.filter((label) => set?.labels.includes(label) === false);
    expect(declined).toHaveLength(1);
    for (const source of [ours, theirs])
      expect([...(await source.declined(chainId, scope, labels, signal))]).toEqual(declined);
    const leaves = await chain.association.leaves(scope);
    expect(leaves?.stateTreeLeaves.length).toBeGreaterThan(labels.length);
    expect(await later.leaves(scope)).toEqual(leaves);
  } finally {
    await server.close();
  }
  // A deposit approved by one provider is approved for the other, and the shorter set never
  // replaces the longer one.
  const wallet = { id: "seen by both", mnemonic: engine.newMnemonic() };
  const amountBase = parseUnits("10", 6);
  const { calls } = await engine.shield({
    chainId,
    token,
    amountBase,
    slot: { wallet, index: 0 },
  });
  for (const call of calls) await chain.send(chain.relayer, call);
  await later.advance();
  expect(await chain.client.getTransactionCount(postman)).toBe(before);
  await chain.association.advance();
  await later.advance();
  expect(await chain.client.getTransactionCount(postman)).toBe(before + 1);
  expect((await later.roots())?.mtRoot).toBe((await chain.association.roots())?.mtRoot);
});

/*
 * The calls that the contracts refuse, with the proofs of the tests above. Each test resets the
 * chain to the moment before its transaction was mined, so the latest transaction comes first.
 */
const errors = [...entrypointAbi, ...privacyPoolAbi, ...privacyProcessorAbi];

const refused = async (
  to: Address,
  data: Hex,
  error: string,
  from = chain.relayer,
): Promise<void> => {
  const revert = await chain.revertOf(from, { to, data });
  expect(
    revert === null ? "accepted" : decodeErrorResult({ abi: errors, data: revert }).errorName,
  ).toBe(error);
};

const takeBack = async (mined: Mined | undefined): Promise<Call> => {
  if (mined === undefined) throw new Error("No such transaction was made.");
  await chain.client.revert({ id: mined.before });
  return mined.call;
};

const lastSent = (functionName: "exit" | "ragequit"): Mined | undefined =>
  sent.findLast(({ call: { data } }) => {
    try {
      return (
        decodeFunctionData({ abi: [...privacyPoolAbi, ...privacyProcessorAbi], data })
          .functionName === functionName
      );
    } catch {
      return false;
    }
  });

test("the public exit of a deposit is its depositor's alone, once", async () => {
  const call = await takeBack(lastSent("ragequit"));
  await refused(call.to, call.data, "OnlyOriginalDepositor", THIEF);
  expect((await chain.send(chain.owner, call)).status).toBe("success");
  await refused(call.to, call.data, "NullifierAlreadySpent", chain.owner);
});

test("the public exit of a note that the processor made is for the owner whom its spend named by a hash, and for nobody else", async () => {
  const call = await takeBack(lastSent("exit"));
  const { args, functionName } = decodeFunctionData({
    abi: privacyProcessorAbi,
    data: call.data,
  });
  if (functionName !== "exit") throw new Error("It is no exit.");
  const [pool, proof, owner, salt] = args;
  const exitCall = (to: Address, with_: Hex): Hex =>
    encodeFunctionData({
      abi: privacyProcessorAbi,
      functionName,
      args: [pool, proof, to, with_],
    });
  await refused(call.to, exitCall(THIEF, salt), "OnlyExitOwner");
  await refused(call.to, exitCall(owner, zeroHash), "OnlyExitOwner");
  const ragequit = encodeFunctionData({
    abi: privacyPoolAbi,
    functionName: "ragequit",
    args: [proof],
  });
  await refused(pool, ragequit, "OnlyOriginalDepositor");
  expect((await chain.send(chain.relayer, call)).status).toBe("success");
  await refused(call.to, call.data, "NullifierAlreadySpent");
});

test("a private swap keeps to the minimum and the fee of its proof", async () => {
  const call = await takeBack(relayed.at(-1));
  const { args, functionName } = decodeFunctionData({
    abi: privacyProcessorAbi,
    data: call.data,
  });
  if (functionName !== "run") throw new Error("It is no swap.");
  const [pool, withdrawal, proof] = args;
  const [order] = decodeAbiParameters(processorOrder, withdrawal.data);
  const runWith = (change: Partial<typeof order>): Hex => {
    const data = encodeAbiParameters(processorOrder, [{ ...order, ...change }]);
    return encodeFunctionData({
      abi: privacyProcessorAbi,
      functionName,
      args: [pool, { ...withdrawal, data }, proof],
    });
  };
  await refused(call.to, runWith({ minimumOut: 1n }), "ContextMismatch");
  await refused(call.to, runWith({ fee: order.fee + 1n }), "ContextMismatch");
  await refused(
    call.to,
    runWith({ precommitment: order.precommitment + 1n }),
    "ContextMismatch",
  );
  await refused(call.to, runWith({ fee: parseUnits("5", 6) + 1n }), "FeeAboveBound");
  await refused(call.to, runWith({ deadline: 1n }), "Expired");
  expect((await chain.send(chain.relayer, call)).status).toBe("success");
  for (const token of [harness.token, harness.tokenOut])
    expect(await chain.balanceOf(token, call.to)).toBe(0n);
});

test("a relayed withdrawal pays exactly whom its proof names, from its own pool, and only under the latest association set", async () => {
  const call = await takeBack(relayed.at(0));
  const { args, functionName } = decodeFunctionData({ abi: entrypointAbi, data: call.data });
  if (functionName !== "relay") throw new Error("It is no relayed withdrawal.");
  const [withdrawal, proof, scope] = args;
  const [data] = decodeAbiParameters(relayData, withdrawal.data);
  type Own = {
    change?: Partial<typeof data>;
    signals?: readonly [number, bigint];
    in?: bigint;
  };
  const relayWith = ({ change = {}, signals, in: ofScope = scope }: Own): Hex => {
    const pubSignals = proof.pubSignals.map((signal, at) =>
      at === signals?.[0] ? signals[1] : signal,
    );
    const changed = {
      ...withdrawal,
      data: encodeAbiParameters(relayData, [{ ...data, ...change }]),
    };
    return encodeFunctionData({
      abi: entrypointAbi,
      functionName,
      args: [changed, { ...proof, pubSignals: pubSignals as never }, ofScope],
    });
  };
  const { pools } = chain.contracts.privacy;
  // The relay with a third address in place of the recipient's.
  await refused(call.to, relayWith({ change: { recipient: THIEF } }), "ContextMismatch");
  // The pool of another asset, and a pool that does not exist.
  await refused(call.to, relayWith({ in: await chain.scopeOf(pools.dai) }), "ContextMismatch");
  await refused(call.to, relayWith({ in: 1n }), "PoolNotFound");
  // A relayer's fee above the pool's bound.
  await refused(
    call.to,
    relayWith({ change: { relayFeeBPS: 101n } }),
    "RelayFeeGreaterThanMax",
  );
  const [, nullifierHash, withdrawn] = proof.pubSignals;
  await refused(call.to, relayWith({ signals: [2, withdrawn + 1n] }), "InvalidProof");
  // The same nullifier plus the field's modulus, which is the same value in the circuit.
  await refused(call.to, relayWith({ signals: [1, nullifierHash + SCALARS] }), "InvalidProof");
  await refused(call.to, relayWith({ signals: [3, 1n] }), "UnknownStateRoot");
  // The set changes after the proof was made, and is then restored.
  const id = await chain.client.snapshot();
  await harness.publishOtherSet();
  await refused(call.to, call.data, "IncorrectASPRoot");
  await chain.client.revert({ id });
  expect((await chain.send(chain.relayer, call)).status).toBe("success");
  await refused(call.to, call.data, "NullifierAlreadySpent");
});
