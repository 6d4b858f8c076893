import Link from "next/link";
import type { ReactNode } from "react";
import { buttonLooks } from "@/components/ui/button-looks";

const NotFound = (): ReactNode => (
  <main className="mx-auto flex min-h-dvh max-w-lg flex-col justify-center gap-3 px-4">
    <h1 className="text-2xl font-semibold">Nothing here</h1>
    <p className="text-fg-2">This page does not exist, or it belongs to another project. No money was moved by this.</p>
    <p>
      <Link href="/" className={buttonLooks()}>
        Go to the overview
      </Link>
    </p>
  </main>
);

export default NotFound;
