import type { Command } from "./command";

interface Entry {
  /** Continues the command's name in a sentence. */
  readonly summary: string;
  /** Loads the command. Each is loaded alone, so that `migrate` does not wait for the chains. */
  load(): Promise<{ readonly command: Command }>;
}

/** The commands of the program causeway. `npm run` has a script of the same name for each. */
export const COMMANDS: Readonly<Record<string, Entry>> = {
  migrate: {
    summary: "brings the database up to date",
    load: () => import("./migrate"),
  },
  "db:distribute": {
    summary: "distributes the largest tables over the nodes of a Citus cluster",
    load: () => import("./db-distribute"),
  },
  backup: {
    summary: "copies the PostgreSQL of `npm start` to a new folder, while Causeway may run",
    load: () => import("./backup"),
  },
  restore: {
    summary: "restores the PostgreSQL of `npm start` from a backup",
    load: () => import("./restore"),
  },
  reconcile: {
    summary:
      "compares the database with the chains after a restore or a failover, and allows signing again when they agree",
    load: () => import("./reconcile"),
  },
  archive: {
    summary:
      "writes the events, deliveries and ledger of a closed month to files, and removes the rows that nothing needs",
    load: () => import("./archive"),
  },
  "ledger:verify": {
    summary: "recomputes the balances of the whole ledger, and names each fault",
    load: () => import("./ledger-verify"),
  },
  "audit:verify": {
    summary:
      "checks the audit log against its hash chains, seals and anchors, and names each entry that was changed, removed or moved",
    load: () => import("./audit-verify"),
  },
  "reserves:verify": {
    summary:
      "checks a proof of inclusion (GET /global-accounts/{id}/proof) without access to the service",
    load: () => import("./reserves-verify"),
  },
  "keys:rotate": {
    summary:
      "encrypts all secrets of the database under the current KEY_ENCRYPTION_KEY, beside running instances",
    load: () => import("./keys-rotate"),
  },
  jobs: {
    summary: "lists the jobs that were parked because they failed too often, or resumes them",
    load: () => import("./jobs"),
  },
  "screening:import": {
    summary: "imports a signed sanctions list, which every instance uses within seconds",
    load: () => import("./screening-import"),
  },
  "sponsor-budget": {
    summary: "shows or sets how much of a project's network fees the sponsor pays",
    load: () => import("./sponsor-budget"),
  },
  "paymaster:deploy": {
    summary:
      "deploys the project's paymaster to a chain from the executor's account, and prints its address for CHAINS_FILE",
    load: () => import("./paymaster-deploy"),
  },
  "distributor:deploy": {
    summary:
      "deploys the contract that pays batches of payouts to a chain, and prints its address for CHAINS_FILE",
    load: () => import("./distributor-deploy"),
  },
};
