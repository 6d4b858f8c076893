import { fakeRoutingWorld } from "@/lib/dev/testing/fake-routing-world";
import { routingContract } from "../routing.contract";

const world = fakeRoutingWorld();
routingContract("the fake", () => world);
