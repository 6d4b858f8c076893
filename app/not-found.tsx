import type { ReactNode } from "react";
import { Prefetched } from "@/app/_data/prefetched";
import { meQuery } from "@/components/features/profile/use-me";
import { AppShell } from "@/components/layout/app-shell";
import { NothingHere } from "@/components/layout/nothing-here";
import { getBrowserSession } from "@/lib/http/session";

/** A signed-in person sees the message inside the dashboard's shell, and can use its navigation. */
const NotFound = async (): Promise<ReactNode> =>
  (await getBrowserSession()) === null ? (
    <main className="mx-auto max-w-2xl px-4 pt-[10vh]">
      <NothingHere />
    </main>
  ) : (
    <Prefetched queries={[meQuery]}>
      <AppShell>
        <NothingHere />
      </AppShell>
    </Prefetched>
  );

export default NotFound;
