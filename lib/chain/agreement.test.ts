import { expect, test } from "vitest";
import { DomainError } from "@/lib/core/errors";
import { agreedAnswer, opinionsOf, sharedOpinion } from "./agreement";
import type { ChainRegistry } from "./registry";

type Answer = "seen" | "other" | null | "down";

/** Providers with these answers: one list for each provider, used in order. */
const chainOf = (providers: readonly (readonly Answer[])[]) => {
  const asked: number[] = [];
  const registry = {
    providers: () => providers.length,
    throughProvider: (index: number) => ({ at: index % providers.length }),
  } as unknown as ChainRegistry;
  const look = (view: ChainRegistry): Promise<Answer> => {
    const { at } = view as unknown as { at: number };
    const answer = providers[at]?.[asked.filter((other) => other === at).length] ?? null;
    asked.push(at);
    return answer === "down"
      ? Promise.reject(new DomainError("chain_unavailable", "No answer."))
      : Promise.resolve(answer);
  };
  return { question: { registry, chainId: 1, look }, asked };
};

const codeOf = (error: unknown): unknown => (error instanceof DomainError ? error.code : error);

const ask = async (providers: readonly (readonly Answer[])[]) => {
  const { question, asked } = chainOf(providers);
  const answer = await agreedAnswer({
    ...question,
    isExpected: (found) => found === "seen",
  }).catch(codeOf);
  return { answer, asked };
};

const opinions = (providers: readonly (readonly Answer[])[]) =>
  opinionsOf(chainOf(providers).question).catch(codeOf);

test("what one provider still sees is there", async () => {
  expect(await ask([[null], ["seen"]])).toEqual({ answer: "seen", asked: [0, 1] });
});

test("what two providers miss is gone, and what one of them saw instead is told", async () => {
  expect((await ask([[null], [null]])).answer).toBeNull();
  expect((await ask([[null], ["other"]])).answer).toBe("other");
});

test("the only provider is asked again before its answer counts", async () => {
  expect(await ask([[null, "seen"]])).toEqual({ answer: "seen", asked: [0, 0] });
  expect(await ask([[null, null]])).toEqual({ answer: null, asked: [0, 0] });
});

test("nothing is gone while too few providers answer to agree", async () => {
  expect((await ask([[null], ["down"]])).answer).toBe("chain_unavailable");
  expect((await ask([[null, "down"]])).answer).toBe("chain_unavailable");
  expect((await ask([[null], ["down"], [null]])).answer).toBeNull();
});

test("each provider has one opinion, and the only one is asked twice; none is an outage", async () => {
  expect(await opinions([["seen"], [null], ["down"]])).toEqual(["seen", null]);
  expect(await opinions([["seen", "other"]])).toEqual(["seen", "other"]);
  expect(await opinions([["down"], ["down"]])).toBe("chain_unavailable");
});

test("an opinion is shared when two have it", () => {
  expect(sharedOpinion(["seen", "other", "other"], (one) => one)).toBe("other");
  expect(sharedOpinion(["seen", "other"], (one) => one)).toBeNull();
  expect(sharedOpinion(["seen"], (one) => one)).toBeNull();
});
