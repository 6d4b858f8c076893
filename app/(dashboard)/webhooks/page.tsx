import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Webhooks } from "@/components/features/webhooks/webhooks";

export const metadata: Metadata = { title: "Webhooks" };

const Page = (): ReactNode => <Webhooks />;

export default Page;
