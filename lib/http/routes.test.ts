import { expect, test } from "vitest";
import { contracts } from "@/lib/contracts/all";
import type { Contract } from "@/lib/contracts/contract";
import { routes } from "@/lib/routes.gen";

const CATCH_ALL = "/api/[...rest]";

/** `/operations/{id}` → `/api/operations/[id]`. */
const filePath = (contract: Contract): string =>
  `/api${contract.path.replace(/\{(\w+)\}/g, "[$1]")}`;
const nameOf = (contract: Contract): string => `${contract.method} ${filePath(contract)}`;

const served = routes
  .filter(({ path }) => path !== CATCH_ALL)
  .flatMap(({ path, module }) =>
    Object.entries(module).map(([method, handler]) => ({
      name: `${method} ${path}`,
      contract: handler.contract,
    })),
  );

test("every contract has a route file that exports its method, and every route file keeps a contract of the list", () => {
  expect(served.map(({ name }) => name).sort()).toEqual(contracts.map(nameOf).sort());
});

test("each route lies at the path of its contract", () => {
  for (const { name, contract } of served) {
    expect(nameOf(contract)).toBe(name);
    expect(contracts).toContain(contract);
  }
});
