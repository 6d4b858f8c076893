import { headers } from "next/headers";
import { redirect } from "next/navigation";
import type { ReactNode } from "react";
import { Prefetched } from "@/app/_data/prefetched";
import { LiveProvider } from "@/components/features/live/live-provider";
import { meQuery } from "@/components/features/profile/use-me";
import { ProjectReporting } from "@/components/features/reporting/project-reporting";
import { reportingQuery } from "@/components/features/reporting/use-reporting";
import { AppShell } from "@/components/layout/app-shell";
import { parseUrl } from "@/lib/core/redaction";
import { getBrowserSession } from "@/lib/http/session";

interface LayoutProps {
  readonly children: ReactNode;
}

/**
 * Header with the path of the request. server.ts sets it, because a Next layout does not receive
 * the path. Without the header, people reach the overview after they sign in.
 */
const PATH_HEADER = "x-causeway-path";

/**
 * Path of the API reference. People who are not signed in get its document without the app around
 * it, instead of the sign-in page.
 */
const API_REFERENCE = "/api-reference";

const pathWithoutSession = async (): Promise<string> => {
  const asked = (await headers()).get(PATH_HEADER);
  const url = asked === null ? null : parseUrl(asked, "http://localhost");
  if (url === null) return "/sign-in";
  const { pathname, searchParams } = url;
  if (pathname === API_REFERENCE) return `${API_REFERENCE}/frame`;
  // Next adds `_rsc` when the browser fetches a part of a page; it is not part of the page's
  // address.
  searchParams.delete("_rsc");
  const from = searchParams.size === 0 ? pathname : `${pathname}?${searchParams.toString()}`;
  return from === "/" ? "/sign-in" : `/sign-in?from=${encodeURIComponent(from)}`;
};

const DashboardLayout = async ({ children }: LayoutProps): Promise<ReactNode> => {
  if ((await getBrowserSession()) === null) redirect(await pathWithoutSession());
  return (
    <Prefetched queries={[meQuery, reportingQuery]}>
      <LiveProvider>
        <ProjectReporting>
          <AppShell>{children}</AppShell>
        </ProjectReporting>
      </LiveProvider>
    </Prefetched>
  );
};

export default DashboardLayout;
