import "./leave-a-core";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import {
  Circuits,
  getCommitment,
  PrivacyPoolSDK,
  type Hash,
  type Secret,
} from "@0xbow/privacy-pools-core-sdk";
import { LeanIMT } from "@zk-kit/lean-imt";
import { LRUCache } from "lru-cache";
import { hashPair } from "./keys";
import { proofJob, toMessage, type Groth16Proof, type ProofJob } from "./proof-job";

/*
 * Entry of the process that makes proofs, one after another. A proof occupies all cores but one for
 * seconds and needs half a gigabyte, so it runs outside of the service's process. The process
 * caches the circuit files and the trees between proofs, and ends with its parent.
 */
/** Tree depth of the circuits; siblings are padded to it. */
const TREE_DEPTH = 32;
const TREES_MAX = 32;

class NotInTreeError extends Error {}

type Tree = LeanIMT;
type Withdraw = Extract<ProofJob, { circuit: "withdraw" }>;

const trees = new LRUCache<string, Tree>({ max: TREES_MAX });

/**
 * Appends leaves to the tree with this key. Trees only grow; a reorganisation gives the tree a new
 * key.
 */
const grow = ({ key, known, added }: Withdraw["state"]): Tree => {
  const kept = trees.get(key);
  const tree = kept !== undefined && kept.size === known ? kept : new LeanIMT<bigint>(hashPair);
  if (tree.size !== known) throw new NotInTreeError(`The tree ${key} has to be sent whole.`);
  if (added.length > 0) tree.insertMany([...added]);
  trees.set(key, tree);
  return tree;
};

const proofOf = (tree: Tree, leaf: bigint) => {
  const index = tree.indexOf(leaf);
  if (index === -1) throw new NotInTreeError("The note is not in the tree.");
  const { siblings, ...proof } = tree.generateProof(index);
  const padding = Array.from({ length: TREE_DEPTH - siblings.length }, () => 0n);
  // The library's proof omits levels without a sibling, also in the bits of its index. The index
  // therefore differs from the leaf's index.
  return { ...proof, siblings: [...siblings, ...padding] };
};

interface SnarkProof {
  readonly pi_a: readonly unknown[];
  readonly pi_b: readonly (readonly unknown[])[];
  readonly pi_c: readonly unknown[];
}

const integers = (values: readonly unknown[]): bigint[] =>
  values.map((value) => BigInt(String(value)));
const pair = (values: readonly unknown[] = []): [bigint, bigint] => {
  const [one = 0n, other = 0n] = integers(values);
  return [one, other];
};

/** Reverses each coordinate, because the pairing precompile expects its imaginary part first. */
const reversed = ([one, other]: [bigint, bigint]): [bigint, bigint] => [other, one];

const forContracts = (proof: SnarkProof, signals: readonly unknown[]): Groth16Proof => ({
  pA: pair(proof.pi_a),
  pB: [reversed(pair(proof.pi_b[0])), reversed(pair(proof.pi_b[1]))],
  pC: pair(proof.pi_c),
  pubSignals: integers(signals),
});

const artifacts = dirname(createRequire(import.meta.url).resolve("pp-artifacts"));

let artifactsRead = 0;

class CountedCircuits extends Circuits {
  override _fetchVersionedArtifact(artifactPath: string): Promise<Uint8Array> {
    artifactsRead += 1;
    return super._fetchVersionedArtifact(artifactPath);
  }
}

const circuits = new CountedCircuits({
  browser: false,
  baseUrl: pathToFileURL(`${artifacts}/`).href,
});
const sdk = new PrivacyPoolSDK(circuits);
// Reads the circuit files once, and compares their hashes with the hashes in the SDK.
const loading = circuits.initArtifacts("latest");

const withdraw = async (job: Withdraw): Promise<Groth16Proof> => {
  const [state, association] = [grow(job.state), grow(job.association)];
  // The root is checked first, because with a wrong root the proof would fail only after seconds
  // of work.
  if (association.root !== job.association.root)
    throw new NotInTreeError(
      "The leaves of the association set do not make the root that was published.",
    );
  const commitment = getCommitment(
    job.value,
    job.label,
    job.nullifier as Secret,
    job.secret as Secret,
  );
  const payload = await sdk.proveWithdrawal(commitment, {
    context: job.context,
    withdrawalAmount: job.withdrawn,
    stateMerkleProof: proofOf(state, job.commitment),
    aspMerkleProof: proofOf(association, job.label),
    stateRoot: state.root as Hash,
    stateTreeDepth: BigInt(TREE_DEPTH),
    aspRoot: association.root as Hash,
    aspTreeDepth: BigInt(TREE_DEPTH),
    newNullifier: job.newNullifier as Secret,
    newSecret: job.newSecret as Secret,
  });
  if (!(await sdk.verifyWithdrawal(payload))) throw new Error("The proof does not verify.");
  return forContracts(payload.proof, payload.publicSignals);
};

const prove = async (job: ProofJob): Promise<Groth16Proof> => {
  await loading;
  if (job.circuit === "withdraw") return withdraw(job);
  const payload = await sdk.proveCommitment(job.value, job.label, job.nullifier, job.secret);
  if (!(await sdk.verifyCommitment(payload))) throw new Error("The proof does not verify.");
  return forContracts(payload.proof, payload.publicSignals);
};

const tell = (message: unknown): void => void process.send?.(toMessage(message));

// The original error is not forwarded, because its message may contain the inputs, which are
// secrets.
const failureOf = (error: unknown) =>
  error instanceof NotInTreeError
    ? { failure: error.message, code: "not_in_tree" }
    : { failure: "The proof could not be made.", code: "failed" };

process.on("message", (raw) => {
  const job = proofJob.parse(raw);
  prove(job).then(
    (proof) => tell({ proof, artifactsRead }),
    (error: unknown) => tell(failureOf(error)),
  );
});
process.on("disconnect", () => process.exit(0));
loading.then(
  () => tell({ ready: true }),
  () => process.exit(1),
);
