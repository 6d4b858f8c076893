import { testAccount } from "./factories";
import {
  approvalAsked,
  call,
  expecting,
  operationOf,
  payoutOf,
  type AttackTable,
} from "./token-attacks";

/**
 * Rows of the table in authority-table.int.test.ts for records that move no money: contacts, names
 * and states of accounts, memos.
 */
export const RECORD_ROWS: AttackTable = {
  "PATCH /contacts/{id}": [
    "moves nothing",
    async () => {
      const { body } = await call("POST", "/contacts", {
        name: "Eve",
        address: testAccount().address,
      });
      return expecting(call("PATCH", `/contacts/${String(body.id)}`, { tags: ["Shop"] }), 200, {
        state: "proposed",
      });
    },
  ],
  "PATCH /global-accounts/{id}": [
    "moves nothing",
    ({ accounts: [payer] }) =>
      expecting(call("PATCH", `/global-accounts/${payer}`, { name: "Till" }), 200),
  ],
  "POST /global-accounts/{id}/freeze": [
    "narrows",
    async () => {
      const { body } = await call("POST", "/global-accounts", { currency: "USDC" });
      return expecting(
        call("POST", `/global-accounts/${String(body.id)}/freeze`, { reason: "Audit" }),
        200,
      );
    },
  ],
  "POST /global-accounts/{id}/unfreeze": [
    "needs approval",
    async () => {
      const { body } = await call("POST", "/global-accounts", { currency: "USDC" });
      await call("POST", `/global-accounts/${String(body.id)}/freeze`, { reason: "Audit" });
      return approvalAsked(call("POST", `/global-accounts/${String(body.id)}/unfreeze`, {}));
    },
  ],
  "POST /global-accounts/{id}/close": [
    "narrows",
    async () => {
      const { body } = await call("POST", "/global-accounts", { currency: "USDC" });
      return expecting(call("POST", `/global-accounts/${String(body.id)}/close`, {}), 200, {
        status: "closed",
      });
    },
  ],
  "POST /payouts/{id}/doubt-decision": [
    "moves nothing",
    async (it) => {
      const { body } = await payoutOf(it);
      const path = `/payouts/${String(body.payoutId)}/doubt-decision`;
      return expecting(call("POST", path, { batch: 0, decision: "by_chain" }), 404, {
        code: "not_found",
      });
    },
  ],
  "PUT /annotations/{id}": [
    "moves nothing",
    async (it) => {
      const { body } = await operationOf(it);
      return expecting(
        call("PUT", `/annotations/${String(body.operationId)}`, { memo: "Rent", tags: [] }),
        200,
      );
    },
  ],
  "PUT /reporting-currency": [
    "moves nothing",
    () => expecting(call("PUT", "/reporting-currency", { currency: "EUR" }), 200),
  ],
};
