import { expect, test } from "vitest";
import type { Screened } from "@/lib/trust/screening/service";
import { createRecipientsService } from "./service";

const [ONE, TWO] = [1, 2];
const ALICE = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const SOURCE = "an oracle of the second chain";

type Deps = Parameters<typeof createRecipientsService>[0];

/**
 * Recipients with unresponsive nodes, no records, and a screening source that lists Alice on one
 * chain.
 */
const recipientsListedOn = (listedOn: number) =>
  createRecipientsService({
    registry: {
      list: () => [],
      find: (id: number) => ({ id }),
      tokens: () => [],
    } as unknown as Deps["registry"],
    reader: { query: () => Promise.resolve([]) },
    routing: { contracts: () => [] },
    freezes: { areFrozen: () => Promise.resolve([]) },
    screening: {
      screen: (asked, { mode }) => {
        const stopped = asked.filter(({ chainId }) => chainId === listedOn);
        const verdict = { state: "hit", source: SOURCE, listVersion: null, at: new Date(0) };
        return Promise.resolve({
          mode,
          screened: [],
          stopped: stopped.map((one) => ({ ...one, verdict }) as Screened),
        });
      },
    },
  });

test.each([ONE, TWO])(
  "an address that may be paid on two chains is screened on both (listed on chain %i)",
  async (listedOn) => {
    const warnings = await recipientsListedOn(listedOn).warnings({
      projectId: "prj_1",
      chainIds: [ONE, TWO],
      recipients: [{ path: "address", address: ALICE }],
      purpose: "store",
    });
    expect(warnings.map(({ code }) => code)).toContain("recipient_listed");
    expect(JSON.stringify(warnings)).toContain(SOURCE);
  },
);

test("an address that is paid on one chain is not screened on another one", async () => {
  const warnings = await recipientsListedOn(TWO).warnings({
    projectId: "prj_1",
    chainIds: [ONE],
    recipients: [{ path: "address", address: ALICE }],
    purpose: "pay",
  });
  expect(warnings.map(({ code }) => code)).not.toContain("recipient_listed");
});
