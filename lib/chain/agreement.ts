import { chainCall, type ChainRegistry } from "./registry";

/**
 * Number of answers that must agree. If a chain has only one provider, the provider is asked this
 * many times, because its nodes may differ.
 */
const OPINIONS_MIN = 2;

const opinionsWanted = (registry: ChainRegistry, chainId: number): number =>
  Math.max(OPINIONS_MIN, registry.providers(chainId));

interface Question<T> {
  readonly registry: ChainRegistry;
  readonly chainId: number;
  readonly look: (view: ChainRegistry, index: number) => Promise<T>;
  /** Whether the answer matches an earlier observation, such as a receipt that still exists. */
  readonly isExpected: (answer: T) => boolean;
}

/**
 * Asks each provider of a chain separately, or the only provider twice, for callers that compare
 * the answers (see `sharedOpinion`).
 * @returns the answers that arrived, at least one, in the order of the providers
 * @throws DomainError `chain_unavailable` when none answers
 */
export const opinionsOf = async <T>({
  registry,
  chainId,
  look,
}: Pick<Question<T>, "registry" | "chainId" | "look">): Promise<readonly T[]> => {
  const answers: T[] = [];
  let failure: unknown;
  for (let index = 0; index < opinionsWanted(registry, chainId); index += 1) {
    try {
      answers.push(
        await chainCall(chainId, () => look(registry.throughProvider(index), index)),
      );
    } catch (error) {
      failure = error;
    }
  }
  if (answers.length === 0) throw failure;
  return answers;
};

/**
 * The answer on which at least `OPINIONS_MIN` providers agree; null when there is none. Answers
 * agree when `keyOf` returns equal keys for them.
 */
export const sharedOpinion = <T>(
  opinions: readonly T[],
  keyOf: (opinion: T) => string,
): T | null =>
  opinions.find(
    (one) => opinions.filter((other) => keyOf(other) === keyOf(one)).length >= OPINIONS_MIN,
  ) ?? null;

/**
 * Asks each provider of a chain separately (`RPC_URL_<id>` names several), or the only provider
 * twice, before an earlier observation counts as undone, because one lagging node does not prove a
 * reorganisation. Returns the first expected answer. Returns an unexpected answer only when at
 * least two providers give one and none gives an expected one.
 * @throws DomainError `chain_unavailable` when too few providers answer to agree
 * @example
 * const receipt = await agreedAnswer({
 * registry,
 * chainId,
 * look: (view) => receiptOf(view.client(chainId)),
 * isExpected: (one) => one !== null,
 * });
 */
export const agreedAnswer = async <T>({
  registry,
  chainId,
  look,
  isExpected,
}: Question<T>): Promise<T> => {
  const unexpected: T[] = [];
  let failure: unknown;
  for (let index = 0; index < opinionsWanted(registry, chainId); index += 1) {
    try {
      const answer = await chainCall(chainId, () =>
        look(registry.throughProvider(index), index),
      );
      if (isExpected(answer)) return answer;
      unexpected.push(answer);
    } catch (error) {
      failure = error;
    }
  }
  const [first] = unexpected;
  if (first === undefined || unexpected.length < OPINIONS_MIN) throw failure;
  // Prefers a different receipt to a missing one, because the receipt tells the caller more.
  return unexpected.find((answer) => answer !== null) ?? first;
};
