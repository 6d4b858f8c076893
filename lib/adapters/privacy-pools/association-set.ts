import { z } from "zod";
import { DomainError } from "@/lib/core/errors";

const TIMEOUT_MS = 10_000;
const decimal = z.string().regex(/^\d+$/).transform(BigInt);

const rootsAnswer = z.object({ mtRoot: decimal, onchainMtRoot: decimal.nullable() });
const leavesAnswer = z.object({ aspLeaves: z.array(decimal) });
const depositsAnswer = z.array(z.object({ label: z.coerce.string(), reviewStatus: z.string() }));

export interface AssociationSet {
  readonly root: bigint;
  /** The root in the contract; a withdrawal needs it to equal the provider's root. */
  readonly onchainRoot: bigint | null;
  /** Approved labels of all pools of the entrypoint, in the tree's order. */
  readonly labels: readonly bigint[];
}

export interface AssociationSource {
  /** @throws DomainError `provider_error` */
  read(chainId: number, scope: bigint, signal: AbortSignal): Promise<AssociationSet | null>;
  /**
   * The given labels that were declined.
   * @throws DomainError `provider_error`
   */
  declined(
    chainId: number,
    scope: bigint,
    labels: readonly bigint[],
    signal: AbortSignal,
  ): Promise<ReadonlySet<bigint>>;
}

/** The provider of association sets, in the shape of 0xbow's public API. */
export const createAssociationSource = (baseUrl: string): AssociationSource => {
  let known: { root: bigint; labels: readonly bigint[] } | null = null;

  const ask = async <T>(
    schema: z.ZodType<T>,
    path: string,
    own: { headers: Record<string, string>; signal: AbortSignal },
  ): Promise<T | null> => {
    try {
      const signal = AbortSignal.any([own.signal, AbortSignal.timeout(TIMEOUT_MS)]);
      const response = await fetch(`${baseUrl.replace(/\/$/, "")}${path}`, { headers: own.headers, signal });
      // Nothing was published yet.
      if (response.status === 404) return null;
      if (!response.ok) throw new Error(`It answered ${String(response.status)}.`);
      return schema.parse(await response.json());
    } catch (cause) {
      own.signal.throwIfAborted();
      throw new DomainError(
        "provider_error",
        "The provider of association sets does not answer. Nothing was lost; try again shortly.",
        { cause },
      );
    }
  };

  return {
    read: async (chainId, scope, signal) => {
      const own = { headers: { "X-Pool-Scope": scope.toString() }, signal };
      const roots = await ask(rootsAnswer, `/${String(chainId)}/public/mt-roots`, own);
      if (roots === null) return null;
      if (known?.root !== roots.mtRoot) {
        const leaves = await ask(leavesAnswer, `/${String(chainId)}/public/mt-leaves`, own);
        if (leaves === null) return null;
        known = { root: roots.mtRoot, labels: leaves.aspLeaves };
      }
      return { ...known, onchainRoot: roots.onchainMtRoot };
    },
    declined: async (chainId, scope, labels, signal) => {
      if (labels.length === 0) return new Set();
      const headers = { "X-Pool-Scope": scope.toString(), "X-Labels": labels.join(",") };
      const deposits = await ask(depositsAnswer, `/${String(chainId)}/public/deposits-by-label`, { headers, signal });
      return new Set(
        (deposits ?? []).filter(({ reviewStatus }) => reviewStatus === "declined").map(({ label }) => BigInt(label)),
      );
    },
  };
};
