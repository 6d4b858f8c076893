import type { ResponseOf } from "@/lib/contracts/contract";
import type { readProjectInbox } from "@/lib/contracts/inbox";
import type { InboxItem } from "./service";

export const toInbox = (items: readonly InboxItem[]): ResponseOf<typeof readProjectInbox> => ({
  data: items.map(
    ({ kind, id, title, toDo, mine, by, byName, movement, votes, since, until, path }) => ({
      kind,
      id,
      title,
      toDo,
      mine,
      by,
      byName,
      movement: movement === null ? null : { ...movement, amounts: [...movement.amounts] },
      votes,
      since: since.toISOString(),
      until: until?.toISOString() ?? null,
      path,
    }),
  ),
});
