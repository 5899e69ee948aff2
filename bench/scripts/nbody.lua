return function()
  local x = {0.0, 4.84143144246472, 8.34336671824458, 12.894369562139131, 15.379697114850917}
  local y = {0.0, -1.16032004402742, 4.12479856412430, -15.11115140169863, -25.919314609987964}
  local z = {0.0, -0.10362204447112, -0.40352341711432, -0.22330757889265, 0.17925877295037}
  local vx = {0.0, 0.606326392995832, -1.01077434617879, 1.08279100644153, 0.979090732243898}
  local vy = {0.0, 2.81198684491626, 1.82566237123041, 0.868713018169608, 0.594698998647676}
  local vz = {0.0, -0.02521836165988, 0.008415761376584, -0.010832637401363, -0.034755955504078}
  local mass = {39.47841760435743, 0.03769367487038949, 0.011286326131968767, 0.0017237240570597112, 0.0020336868699246304}
  local sqrt = math.sqrt
  for _ = 1, 2000 do
    for i = 1, 5 do
      for j = i + 1, 5 do
        local dx, dy, dz = x[i] - x[j], y[i] - y[j], z[i] - z[j]
        local d2 = dx * dx + dy * dy + dz * dz
        local mag = 0.01 / (d2 * sqrt(d2))
        local mi, mj = mass[i] * mag, mass[j] * mag
        vx[i] = vx[i] - dx * mj
        vy[i] = vy[i] - dy * mj
        vz[i] = vz[i] - dz * mj
        vx[j] = vx[j] + dx * mi
        vy[j] = vy[j] + dy * mi
        vz[j] = vz[j] + dz * mi
      end
    end
    for i = 1, 5 do
      x[i] = x[i] + 0.01 * vx[i]
      y[i] = y[i] + 0.01 * vy[i]
      z[i] = z[i] + 0.01 * vz[i]
    end
  end
  local function int(v) return v < 0 and math.ceil(v) or math.floor(v) end
  return int(x[1] * 1000000000.0) .. " " .. int(y[2] * 1000000.0) .. " " .. int(z[5] * 1000000.0)
end
