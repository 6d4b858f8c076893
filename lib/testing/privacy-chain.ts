import { LeanIMT } from "@zk-kit/lean-imt";
import {
  encodeFunctionData,
  erc20Abi,
  keccak256,
  encodeAbiParameters,
  numberToHex,
  parseEventLogs,
  type Address,
  type Hex,
} from "viem";
import {
  commitmentOf,
  depositSecrets,
  hashPair,
  precommitmentOf,
  type MasterKeys,
} from "@/lib/adapters/privacy-pools/keys";
import { entrypointAbi, privacyPoolAbi } from "@/lib/chains/privacy-pools";
import { devAddress } from "@/lib/devnet/accounts";
import { planDeployments } from "@/lib/devnet/contracts";
import { deployAll } from "@/lib/devnet/deploy/deploy";
import { startBareAnvil } from "./bare-anvil";

const GAS = 16_000_000;
const CID = "bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi";
const SCALARS = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;
const withdrawalParameters = [
  {
    type: "tuple",
    components: [
      { name: "processooor", type: "address" },
      { name: "data", type: "bytes" },
    ],
  },
  { type: "uint256" },
] as const;

export interface Note {
  readonly value: bigint;
  readonly label: bigint;
  readonly nullifier: bigint;
  readonly secret: bigint;
  readonly commitment: bigint;
}

/** What a proof is bound to. */
export const contextOf = (withdrawal: { processooor: Address; data: Hex }, scope: bigint): bigint =>
  BigInt(keccak256(encodeAbiParameters(withdrawalParameters, [withdrawal, scope]))) % SCALARS;

/** One chain with every contract of the local chains, and nobody who approves deposits but the test. */
export const startPrivacyChain = async (chainId: number) => {
  const chain = await startBareAnvil(chainId, ["--gas-limit", "60000000", "--balance", "10000000"]);
  await deployAll(chain.url, 0);
  const { client } = chain;
  const { contracts } = planDeployments();
  const { privacy } = contracts;

  const send = async (from: Address, to: Address, data: Hex, value = 0n) => {
    const transaction = { from, to, data, value: numberToHex(value), gas: numberToHex(GAS) };
    const hash = await client.request({ method: "eth_sendTransaction", params: [transaction] } as never);
    return client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
  };

  /** The data with which the call would revert; null where it would not. */
  const revertOf = async (from: Address, to: Address, data: Hex): Promise<Hex | null> => {
    const params = [{ from, to, data, gas: numberToHex(GAS) }, "latest"];
    const response = await fetch(chain.url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_call", params }),
    });
    const { error } = (await response.json()) as { error?: { data?: Hex } };
    return error === undefined ? null : (error.data ?? "0x");
  };

  const scopeOf = (pool: Address): Promise<bigint> =>
    client.readContract({ address: pool, abi: privacyPoolAbi, functionName: "SCOPE" });

  const leavesOf = async (pool: Address): Promise<bigint[]> => {
    const logs = await client.getContractEvents({
      address: pool,
      abi: privacyPoolAbi,
      eventName: "LeafInserted",
      fromBlock: 0n,
    });
    return logs.map(({ args }) => args._leaf ?? 0n);
  };

  const labelsOf = async (): Promise<bigint[]> => {
    const address = Object.values(privacy.pools);
    const logs = await client.getContractEvents({
      address,
      abi: privacyPoolAbi,
      eventName: "Deposited",
      fromBlock: 0n,
    });
    return logs.map(({ args }) => args._label ?? 0n);
  };

  let approvedLabels: readonly bigint[] = [];

  /** Publishes a set of these labels. */
  const approve = async (labels: readonly bigint[]): Promise<void> => {
    const tree = new LeanIMT<bigint>(hashPair);
    tree.insertMany([...labels]);
    const data = encodeFunctionData({ abi: entrypointAbi, functionName: "updateRoot", args: [tree.root, CID] });
    await send(devAddress("postman"), privacy.entrypoint, data);
    approvedLabels = labels;
  };

  /** Gives the faucet's account tokens and deposits them. */
  const shield = async (
    keys: MasterKeys,
    { pool, token, amount, index }: { pool: Address; token: Address; amount: bigint; index: bigint },
  ) => {
    const from = devAddress("deployer");
    const secrets = depositSecrets(keys, await scopeOf(pool), index);
    const approval = encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [privacy.entrypoint, amount] });
    await send(from, token, approval);
    const args = [token, amount, precommitmentOf(secrets)] as const;
    const receipt = await send(
      from,
      privacy.entrypoint,
      encodeFunctionData({ abi: entrypointAbi, functionName: "deposit", args }),
    );
    return { receipt, note: noteIn(receipt.logs, pool, secrets) };
  };

  const noteIn = (
    logs: Parameters<typeof parseEventLogs>[0]["logs"],
    pool: Address,
    secrets: { nullifier: bigint; secret: bigint },
  ): Note => {
    const found = parseEventLogs({ abi: privacyPoolAbi, eventName: "Deposited", logs }).find(
      (log) => log.address.toLowerCase() === pool.toLowerCase(),
    );
    if (found === undefined) throw new Error("Nothing was deposited.");
    const { _value: value, _label: label, _commitment: commitment } = found.args;
    if (commitment !== commitmentOf(value, label, secrets)) throw new Error("The commitment is another one.");
    return { value, label, commitment, ...secrets };
  };

  return {
    ...chain,
    contracts,
    send,
    revertOf,
    scopeOf,
    leavesOf,
    labelsOf,
    approve,
    approved: () => approvedLabels,
    shield,
    noteIn,
  };
};
