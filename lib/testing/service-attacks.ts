import { quarantinedDeposit } from "./deposits";
import { testAccount } from "./factories";
import { approvalAsked, call, deliveryOf, endpointOf, expecting, ONE, theApi, type AttackTable } from "./token-attacks";

/** Rows of the table in authority-table.int.test.ts: deposits, webhooks, and the faucet of local chains. */
export const SERVICE_ROWS: AttackTable = {
  "POST /deposits/{id}/release": [
    "needs approval",
    async ({ customer }) =>
      approvalAsked(
        call("POST", `/deposits/${await quarantinedDeposit(theApi().services, customer)}/release`, { reason: "x" }),
      ),
  ],
  "PATCH /webhook-endpoints/{id}": [
    "moves nothing",
    async () => expecting(call("PATCH", `/webhook-endpoints/${await endpointOf()}`, { status: "paused" }), 200),
  ],
  "DELETE /webhook-endpoints/{id}": [
    "narrows",
    async () => expecting(call("DELETE", `/webhook-endpoints/${await endpointOf()}`), 200),
  ],
  "POST /webhook-endpoints/{id}/rotate": [
    "moves nothing",
    async () => expecting(call("POST", `/webhook-endpoints/${await endpointOf()}/rotate`, {}), 200),
  ],
  "POST /webhook-endpoints/{id}/test": [
    "moves nothing",
    async () => expecting(call("POST", `/webhook-endpoints/${await endpointOf()}/test`), 202),
  ],
  "POST /webhook-endpoints/{id}/replay": [
    "moves nothing",
    async () => expecting(call("POST", `/webhook-endpoints/${await endpointOf()}/replay`, { from: 1, to: 2 }), 202),
  ],
  "POST /deliveries/{id}/resend": [
    "moves nothing",
    async () => expecting(call("POST", `/deliveries/${await deliveryOf()}/resend`), 202),
  ],
  // It goes on with what was approved, and nothing of this project is stopped.
  "POST /jobs/{id}/resume": [
    "moves nothing",
    () => expecting(call("POST", "/jobs/po_none/resume"), 404, { code: "not_found" }),
  ],
  // The faucet gives coins of local chains, and takes them from no user's wallet.
  "POST /dev/faucet": [
    "moves nothing",
    () => {
      const { address } = testAccount();
      return expecting(call("POST", "/dev/faucet", { address, chainId: ONE, token: "USDC", amount: "1" }), 201);
    },
  ],
};
