import { describe, expect, test } from "vitest";
import { observerScenes, type Observed, type Scene, type SceneKind } from "./scenes";

const BASE: Observed = {
  kind: "transfer",
  stage: "planned",
  amount: "25 USDC",
  arrives: null,
  wallet: "Main",
  recipient: "Acme GmbH",
  pool: "USDC pool",
  toPool: null,
  swapVenue: null,
  setSize: 57,
};
const of = (change: Partial<Observed>) => observerScenes({ ...BASE, ...change });
/** Everything that a picture or its text says. */
const said = ({ nodes, edges, points }: Scene): string =>
  [
    ...nodes.flatMap((node) => (node === null ? [] : [node.title, node.detail])),
    ...edges.flatMap((edge) => (edge === null ? [] : [edge.label])),
    ...points,
  ].join(" ");

describe("the public chain", () => {
  test("never names the private wallet", () => {
    for (const kind of [
      "shield",
      "transfer",
      "inside",
      "swap",
      "unshield",
      "public_exit",
    ] satisfies SceneKind[])
      for (const stage of [
        "planned",
        "waiting",
        "proving",
        "sent",
        "completed",
        "ended",
      ] as const) {
        const { chain, owner } = of({ kind, stage });
        expect(said(chain), `${kind}, ${stage}`).not.toContain("Main");
        expect(chain.nodes.some((node) => node?.look === "private")).toBe(false);
        expect(chain.edges.some((edge) => edge?.look === "private")).toBe(false);
        expect(said(owner), `${kind}, ${stage}`).toContain("25 USDC");
      }
  });

  test("shows the amount of a deposit and that it is the treasury's, and hides who owns the note", () => {
    const { chain, owner } = of({ kind: "shield", arrives: "24.9 USDC" });
    expect(said(chain)).toContain("The treasury deposited 25 USDC");
    expect(said(chain)).not.toContain("24.9");
    expect(said(owner)).toContain("Main owns a note of 24.9 USDC.");
  });

  test("shows amount and recipient of a transfer, and hides which deposit paid it", () => {
    const { chain } = of({});
    expect(chain.nodes[0]).toMatchObject({ look: "crowd", title: "1 of 57" });
    expect(chain.edges.map((edge) => edge?.label)).toEqual(["?", "25 USDC"]);
    expect(said(chain)).toContain("Which of 57 deposits paid it stays hidden.");
  });

  test("does not show who gets a note inside of the pool", () => {
    const { chain, owner } = of({ kind: "inside", recipient: "Payroll" });
    expect(said(chain)).not.toContain("Payroll");
    expect(said(owner)).toContain("Main gives exactly 25 USDC to Payroll.");
  });

  test("shows both sides of a swap", () => {
    const { chain } = of({ kind: "swap", arrives: "0.0083 WETH", swapVenue: "Some exchange" });
    expect(chain.edges.map((edge) => edge?.label)).toEqual(["25 USDC", "0.0083 WETH"]);
    expect(chain.nodes[1]).toMatchObject({ look: "exchange", title: "Some exchange" });
  });

  test("and the owner's view share the ink of what is public; violet stays for what is shielded", () => {
    const looks = (kind: SceneKind) => of({ kind }).owner.edges.map((edge) => edge?.look);
    expect(looks("shield")).toEqual(["seen", "private"]);
    expect(looks("transfer")).toEqual(["private", "seen"]);
    expect(looks("inside")).toEqual(["private", "private"]);
    expect(looks("public_exit")).toEqual(["seen", "seen"]);
  });

  test("sees everything of a public exit", () => {
    const { chain } = of({ kind: "public_exit" });
    expect(chain.nodes.map((node) => node?.look)).toEqual(["known", "pool", "known"]);
    expect(said(chain)).toContain("Nothing about it is hidden.");
  });
});

test("a set of one hides nothing, and that is said", () => {
  expect(said(of({ setSize: 1 }).chain)).toContain("everybody knows which one paid it");
  expect(said(of({ setSize: 0 }).chain)).toContain("everybody knows which one paid it");
  expect(said(of({ setSize: null }).chain)).toContain("among the pool's deposits");
});

test("an unshield to the treasury warns that the treasury's deposits are public too", () => {
  expect(said(of({ kind: "unshield", recipient: "Treasury" }).chain)).toContain(
    "The treasury also deposited",
  );
  expect(said(of({ kind: "unshield" }).chain)).not.toContain("The treasury also deposited");
});

test("before it is sent, the chain shows nothing of it", () => {
  for (const stage of ["waiting", "proving", "ended"] as const) {
    const { chain } = of({ stage });
    expect(chain.points[0]).toMatch(/^No/);
    expect(chain.edges.every((edge) => edge?.look === "todo")).toBe(true);
  }
  expect(of({ stage: "ended" }).chain.points).toEqual(["No money moved on the chain."]);
});

test.each(["shield", "transfer", "inside", "swap", "unshield", "public_exit"] as const)(
  "the owner of a %s that has ended is promised nothing, and before it is sent it is no fact yet",
  (kind) => {
    expect(of({ kind, stage: "ended" }).owner.points).toEqual([
      "It ended without a result. Where the money is stands above.",
    ]);
    for (const stage of ["waiting", "proving"] as const)
      expect(of({ kind, stage }).owner.points[0]).toBe("Once it is sent:");
    for (const stage of ["planned", "sent", "completed"] as const)
      expect(of({ kind, stage }).owner.points[0]).not.toBe("Once it is sent:");
  },
);
